// Pipeline: the stage of a rank, its names, and what it saves and loads.

#include "gradus/distributed/model_parallel/pipeline.h"

#include <algorithm>
#include <map>

#include "gradus/core/check.h"
#include "gradus/distributed/detail/generator_guard.h"
#include "gradus/distributed/detail/stage.h"
#include "gradus/distributed/model_parallel/across_ranks.h"
#include "gradus/optim/clip.h"

namespace gradus::distributed {

using namespace detail;

namespace {

/// The first layer of each rank, and the number of layers.
std::vector<int> first_layers(int ranks, int layers, const std::vector<int>& given) {
  check(layers >= ranks,
        "Pipeline: {} layers are too few for {} ranks, each of which needs one: start fewer ranks", layers,
        ranks);
  std::vector<int> first{0};
  if (given.empty()) {
    for (int r = 1; r <= ranks; ++r) first.push_back((r * layers + ranks - 1) / ranks);
    return first;
  }
  check(static_cast<int>(given.size()) == ranks,
        "Pipeline: .layers has {} numbers for {} ranks: give one for each", given.size(), ranks);
  for (const int count : given) {
    check(count >= 1, "Pipeline: .layers expects 1 layer or more for each rank, got {}", count);
    first.push_back(first.back() + count);
  }
  check(first.back() == layers, "Pipeline: .layers has a sum of {}, the model {} layers", first.back(),
        layers);
  return first;
}

/// Adds a part under a name with dots: "layers.0" is part 0 of a list "layers".
template <class Part>
void add_part(const nn::Module& root, std::map<std::string, nn::Module>& lists, const std::string& name,
              const Part& part) {
  const nn::Module* parent = &root;
  std::size_t begin = 0;
  for (std::size_t dot; (dot = name.find('.', begin)) != std::string::npos; begin = dot + 1) {
    const std::string path = name.substr(0, dot);
    auto list = lists.find(path);
    if (list == lists.end())
      list = lists.emplace(path, parent->add(name.substr(begin, dot - begin), nn::Module("List"))).first;
    parent = &list->second;
  }
  parent->add(name.substr(begin), part);
}

/// What would make the ranks compute different models.
std::string description(const PipelineModel& model, const PipelineOptions& options, std::uint64_t seed) {
  std::string text = "micro_batches " + std::to_string(options.micro_batches) + ", seed " +
                     std::to_string(seed) + ", layers";
  for (const int count : options.layers) text += " " + std::to_string(count);
  for (const PipelineLayer& layer : model.layers) text += ", '" + layer.name + "'";
  text += ", loss '" + model.loss.name + "'";
  for (const auto& [copy, original] : model.tied) text += ", " + copy + " tied to " + original;
  return text;
}

}  // namespace

Pipeline::Pipeline(Communicator world, const PipelineModel& model, const PipelineOptions& options) {
  check(options.micro_batches >= 1, "Pipeline: expects micro_batches of 1 or more, got {}",
        options.micro_batches);
  const std::uint64_t seed = options.seed ? *options.seed : default_generator().next();
  world.expect_same("The pipeline's layers and options", description(model, options, seed));
  const std::vector<int> first =
      first_layers(world.size(), static_cast<int>(model.layers.size()), options.layers);
  state_ = std::make_unique<State>(State{.world = std::move(world), .options = options, .seed = seed});
  make_stage(model, first);
  std::vector<std::string> own;
  for (const auto& [name, tensor] : state_->stage.state_dict()) own.push_back(name);
  state_->names = names_of_ranks(state_->world, own);
  for (const auto& [name, ranks] : state_->names)
    check(ranks.size() == 1,
          "Pipeline: rank {} and rank {} both have a tensor called {}: give the layers different names",
          ranks[0], ranks.back(), name);
  tie(model.tied);
  copy_tied_values();
}

Pipeline::~Pipeline() = default;

void Pipeline::make_stage(const PipelineModel& model, const std::vector<int>& first) {
  State& s = *state_;
  s.first = first[static_cast<std::size_t>(s.world.rank())];
  s.all = static_cast<int>(model.layers.size());
  const GeneratorGuard guard;
  std::map<std::string, nn::Module> lists;
  for (int i = s.first; i < first[static_cast<std::size_t>(s.world.rank()) + 1]; ++i) {
    default_generator() = Generator(s.seed, static_cast<std::uint64_t>(i));
    const PipelineLayer& layer = model.layers[static_cast<std::size_t>(i)];
    s.layers.push_back(layer.make());
    add_part(s.stage, lists, layer.name, s.layers.back());
  }
  if (s.is_last()) {
    default_generator() = Generator(s.seed, static_cast<std::uint64_t>(s.all));
    s.loss.emplace(model.loss.make());
    add_part(s.stage, lists, model.loss.name, *s.loss);
  }
  for (const auto& [name, module] : s.stage.named_modules())
    check(!module.kind().starts_with("VocabParallel"),
          "Pipeline: {} is a {}, whose calls all ranks make, but only rank {} has this stage: use an "
          "undivided one",
          name, module.kind(), s.world.rank());
}

void Pipeline::tie(const std::vector<std::pair<std::string, std::string>>& pairs) {
  const auto rank_of = [&](const std::string& name) {
    for (const NameOnRanks& known : state_->names)
      if (known.name == name) return known.ranks[0];
    fail_with("Pipeline: .tied names {}, which is no tensor of the model", name);
  };
  const auto shape_on = [&](int rank, const std::string& name) {
    std::string own;
    if (state_->world.rank() == rank)
      if (const nn::Parameter tensor = state_->stage.parameter(name); tensor.defined())
        own = to_string(tensor.shape()) + " " + gradus::name(tensor.dtype());
    return all_texts(state_->world, own)[static_cast<std::size_t>(rank)];
  };
  for (const auto& [copy, original] : pairs) {
    const State::Tie tie{copy, original, rank_of(copy), rank_of(original)};
    const std::string shape_of_copy = shape_on(tie.copy_rank, copy),
                      shape = shape_on(tie.original_rank, original);
    check(shape_of_copy == shape, "Pipeline: {} {} cannot be tied to {} {}", copy, shape_of_copy, original,
          shape);
    state_->ties.push_back(tie);
  }
}

/// The original's values to the copies, where this rank has either.
void Pipeline::copy_tied_values() const {
  const State& s = *state_;
  const NoGrad no_grad;
  for (const State::Tie& tie : s.ties) {
    const bool sends = s.world.rank() == tie.original_rank, receives = s.world.rank() == tie.copy_rank;
    if (sends && receives)
      s.stage.parameter(tie.copy).copy_(s.stage.parameter(tie.original));
    else if (sends)
      s.world.send(s.stage.parameter(tie.original), tie.copy_rank, kTiedTag);
    else if (receives)
      s.world.recv(s.stage.parameter(tie.copy), tie.original_rank, kTiedTag);
  }
}

double Pipeline::clip_grad_norm(double max_norm) {
  const State& s = *state_;
  std::vector<StateDict::Entry> counted;
  std::vector<Tensor> copies;
  for (const auto& [name, parameter] : s.stage.named_parameters()) {
    if (s.is_copy(name))
      copies.push_back(parameter);
    else
      counted.emplace_back(name, parameter);
  }
  const double norm = distributed::clip_grad_norm(s.world, counted, max_norm);
  optim::clip_grads_with_norm(copies, max_norm, norm);
  return norm;
}

const nn::Module& Pipeline::stage() const { return state_->stage; }
std::int64_t Pipeline::steps() const { return state_->steps; }
void Pipeline::set_steps(std::int64_t steps) {
  check(steps >= 0, "Pipeline: expects steps of 0 or more, got {}", steps);
  state_->steps = steps;
}

StateDict Pipeline::state_dict() const {
  StateDict own;
  for (const auto& [name, tensor] : state_->stage.state_dict())
    if (!state_->is_copy(name)) own.set(name, tensor);
  return own;
}

void Pipeline::load_state_dict(const StateDict& whole) {
  const State& s = *state_;
  const auto original_of = [&](const std::string& name) {
    for (const State::Tie& tie : s.ties)
      if (tie.copy == name) return tie.original;
    return name;
  };
  for (const StateDict::Entry& one : whole)
    check(std::any_of(s.names.begin(), s.names.end(),
                      [&](const auto& known) { return known.name == one.first; }),
          "Pipeline: the state has a tensor {}, which no stage has", one.first);
  StateDict own;
  for (const auto& [name, tensor] : s.stage.state_dict()) {
    const Tensor* const values = whole.find(original_of(name));
    check(values, "Pipeline: the state has no tensor {}, which rank {} needs", original_of(name),
          s.world.rank());
    own.set(name, *values);
  }
  s.stage.load_state_dict(own);
}

}  // namespace gradus::distributed
