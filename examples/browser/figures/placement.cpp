#include "browser/figures/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "gradus/gradus.h"
#include "gradus/kit/program/detail/check.h"
#include "lab/training/trial.h"

namespace gradus::browser {

namespace {

NormPlaces places_of(const std::string& placement) {
  const std::vector<NormPlaces> all = traced_placements();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const NormPlaces& one) { return one.placement == placement; });
  kit::check(at != all.end(), "trace: cannot follow the gradient through {}; placements expect {}", placement,
             "Pre-LN, Post-LN, Peri-LN, OLMo 2 or no norm");
  return *at;
}

/// The outputs of a model's layers by path.
class Outputs {
 public:
  explicit Outputs(const nn::Module& model)
      : hook_(model.on_forward([this](const nn::Module& m, const Tensor& y) { all_[m.path()] = y; })) {}
  const Tensor& operator[](const std::string& path) const { return all_.at(path); }

 private:
  std::map<std::string, Tensor> all_;  // the later one of a repeated path: a block comes after its FFN
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
  const auto at = [&](const char* name, const char* part = "") -> const Tensor& {
    return y[fmt::format("{}.{}{}{}", block, name, branch, part)];
  };
  BranchValues v{.out = {}, .added = at("dropout"), .f = at("dropout"), .fed = in, .in = in};
  if (norms.before) v.fed = norms.after ? at("norm", ".before") : at("norm");
  if (norms.after) v.added = norms.before ? at("norm", ".after") : at("norm");
  // Without a norm the sum below FFN has no layer; its gradient equals that of attention's contribution.
  v.out = branch == 2 ? y[block] : norms.on_stream ? at("norm") : v.added;
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
  return {{.placement = "Pre-LN", .before = true},
          {.placement = "Post-LN", .on_stream = true},
          {.placement = "Peri-LN", .before = true, .after = true},
          {.placement = "OLMo 2", .after = true},
          {.placement = "no norm"}};
}

Trace trace_of(const Model& model, const Settings& settings) {
  Trace trace{.norms = places_of(model.placement()), .stream = {}, .gradient = {}, .blocks = {}};
  const kit::Windows batch =
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
