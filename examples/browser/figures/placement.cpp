#include "browser/figures/placement.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/gradus.h"
#include "lab/training/trial.h"

namespace gradus::browser {

namespace {

/// Of a placement whose branches all join alike, with norms but no factors; of another nothing.
std::optional<NormPlaces> places_of(const nn::Placement& placement) {
  if (placement.joinings.size() != 1 || placement.by_layer) return std::nullopt;
  const nn::Joining& joining = placement.joinings.front();
  if (!joining.shortcut.empty()) return std::nullopt;
  NormPlaces norms{.placement = placement.name, .on_stream = !joining.after.empty()};
  bool after = false;
  for (const std::string& part : joining.branch) {
    if (part == "f")
      after = true;
    else if (part == "LN")
      (after ? norms.after : norms.before) = true;
    else
      return std::nullopt;
  }
  return norms;
}

NormPlaces traced(const std::string& name) {
  if (const auto norms = places_of(nn::placement_named(name))) return *norms;
  const std::vector<NormPlaces> all = traced_placements();
  std::string names;
  for (std::size_t i = 0; i < all.size(); ++i)
    names += (i == 0 ? "" : i + 1 < all.size() ? ", " : " or ") + all[i].placement;
  fail_with("trace: cannot follow the gradient through {}; placements expect {}", name, names);
}

/// The outputs of a model's layers by path.
class Outputs {
 public:
  explicit Outputs(const nn::Module& model)
      : hook_(model.on_forward([this](const nn::Module& m, const Tensor& y) {
          if (!all_.contains(m.path())) order_.push_back(m.path());
          all_[m.path()] = y;
        })) {}
  const Tensor& operator[](const std::string& path) const { return all_.at(path); }
  /// Those of a part and of the parts inside it, from the first that ran.
  std::vector<Tensor> within(const std::string& part) const {
    std::vector<Tensor> found;
    for (const std::string& path : order_)
      if (path == part || path.starts_with(part + ".")) found.push_back(all_.at(path));
    return found;
  }

 private:
  std::map<std::string, Tensor> all_;  // the later one of a repeated path: a block comes after its FFN
  std::vector<std::string> order_;
  nn::ForwardHook hook_;
};

/// The values along one branch of a block, from top to bottom.
struct BranchValues {
  Tensor out;     // above the sum and the norm on it
  Tensor added;   // the branch's contribution
  Tensor f, fed;  // output and input of attention or FFN
  Tensor in;      // the stream below
};

BranchValues values_of(const Outputs& y, const NormPlaces& norms, const std::string& block, int branch,
                       const Tensor& in) {
  const Tensor& f = y[fmt::format("{}.dropout{}", block, branch)];
  const std::vector<Tensor> seen = y.within(fmt::format("{}.norm{}", block, branch));
  auto norm = seen.begin();
  BranchValues v{.out = {}, .added = f, .f = f, .fed = in, .in = in};
  if (norms.before) v.fed = *norm++;
  if (norms.after) v.added = *norm++;
  // Without a norm the sum below FFN has no layer; its gradient equals that of attention's contribution.
  v.out = branch == 2 ? y[block] : norms.on_stream ? *norm : v.added;
  return v;
}

double share(const Tensor& below, const Tensor& above) { return below.norm().item() / above.norm().item(); }

/// From the gradients of values_of(); that of `in` includes the shortcut's part.
BranchTrace trace_of(const BranchValues& g, const NormPlaces& norms) {
  const Tensor added = g.in - g.added;  // the shortcut passes on the sum's gradient
  BranchTrace trace;
  if (norms.on_stream) trace.on_stream = share(g.added, g.out);
  if (norms.after) trace.after = share(g.f, g.added);
  trace.f = share(norms.before ? g.fed : added, g.f);
  if (norms.before) trace.before = share(added, g.fed);
  trace.branch = share(added, g.added);
  trace.all = share(g.in, g.out);
  return trace;
}

Json json_of(const NormPlaces& norms) {
  return {{"placement", norms.placement},
          {"before", norms.before},
          {"after", norms.after},
          {"on_stream", norms.on_stream}};
}

Json json_of(const BranchTrace& trace) {
  return {{"on_stream", trace.on_stream}, {"after", trace.after},   {"f", trace.f},
          {"before", trace.before},       {"branch", trace.branch}, {"all", trace.all}};
}

}  // namespace

std::vector<NormPlaces> traced_placements() {
  std::vector<NormPlaces> all;
  for (const nn::Placement& placement : nn::placements())
    if (const auto norms = places_of(placement)) all.push_back(*norms);
  return all;
}

Trace trace_of(const Model& model, const Settings& settings) {
  Trace trace{.norms = traced(model.placement()), .stream = {}, .gradient = {}, .blocks = {}};
  const lab::Batch batch =
      lab::first_batch(lab::recall_task(), {.seed = static_cast<std::uint64_t>(settings.seed)});
  const Outputs outputs(model.gpt());
  const Tensor loss = model.gpt().loss(batch.inputs, batch.targets);

  std::vector<BranchValues> branches;
  std::vector<Tensor> streams = {outputs["dropout"]};  // of the embeddings
  for (std::int64_t l = 0; l < settings.layers; ++l) {
    const std::string block = fmt::format("layers.{}", l);
    branches.push_back(values_of(outputs, trace.norms, block, 1, streams.back()));
    const Tensor middle = branches.back().out;
    branches.push_back(values_of(outputs, trace.norms, block, 2, middle));
    streams.push_back(outputs[block]);
  }
  std::vector<Tensor> values = streams;
  for (const BranchValues& v : branches) values.insert(values.end(), {v.out, v.added, v.f, v.fed, v.in});
  const std::vector<Tensor> gradients = grad(loss, values);

  for (std::size_t l = 0; l < streams.size(); ++l) {
    const Tensor x = streams[l].detach();
    trace.stream.push_back(x.square().mean().item());
    trace.gradient.push_back(gradients[l].norm().item());
  }
  for (std::size_t at = streams.size(); at < gradients.size();) {
    const auto next = [&] {
      BranchValues g{gradients[at], gradients[at + 1], gradients[at + 2], gradients[at + 3],
                     gradients[at + 4]};
      at += 5;
      return trace_of(g, trace.norms);
    };
    const BranchTrace attention = next();
    trace.blocks.push_back({attention, next()});
  }
  return trace;
}

Json answer_trace(const Session& session) {
  Json models = Json::array();
  for (const Model& model : session.models()) {
    const Trace trace = trace_of(model, session.settings());
    Json blocks = Json::array();
    for (const BlockTrace& block : trace.blocks)
      blocks.push_back({{"attention", json_of(block.attention)}, {"ffn", json_of(block.ffn)}});
    models.push_back({{"norms", json_of(trace.norms)},
                      {"steps", model.steps().size()},
                      {"stream", trace.stream},
                      {"gradient", trace.gradient},
                      {"blocks", blocks}});
  }
  return {{"models", models}};
}

Json answer_blocks(const Json&) {
  Json placements = Json::array(), starts = Json::array();
  for (const NormPlaces& norms : traced_placements()) {
    const std::string name = norms.placement;
    placements.push_back({{"name", name}, {"title", name + ": " + nn::placement_named(name).equation}});
  }
  for (const lab::WeightScheme& scheme : start_names())
    starts.push_back({{"name", scheme.name}, {"title", scheme.title}});
  return {{"placements", placements}, {"starts", starts}};
}

}  // namespace gradus::browser
