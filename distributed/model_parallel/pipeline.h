#pragma once
// Pipeline: a model whose layers are divided among the ranks, for one that is too large for a rank.
//
//   distributed::Pipeline pipeline(world, distributed::gpt_layers(options), {.micro_batches = 8});
//   optim::AdamW opt(pipeline.stage().parameters(), {.lr = 1e-3});
//   ...  opt.zero_grad();  pipeline.backward(x, y);  pipeline.clip_grad_norm(1.0);  opt.step();
//
// Each rank makes and has only the layers of its stage, consecutive ones, with their gradients and the state
// of their optimizer. A batch is cut into micro-batches, which go from stage to stage, their gradients back,
// by the schedule 1F1B (Narayanan et al. 2021, arXiv 2104.04473, section 2.2): each stage begins with some
// forward passes and then does one forward, one backward, so that rank r of n keeps the activations of at
// most n - r micro-batches. Losses and weights are the same bits for any number of ranks.
// docs/many_machines.md explains it.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/distributed/communicator.h"
#include "gradus/distributed/data_parallel.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/nn/module/any_module.h"

namespace gradus::distributed {

/// A layer, made only on the rank that has it: `{"layers.0", [] { return nn::Linear(2, 16); }}`
struct PipelineLayer {
  std::string name;  // its place in the whole model, "layers.0"; "": its keys are at the top
  /// Returns a module that is called with one tensor and returns one. default_generator() is then at a place
  /// of the layer's own: initial values are the same for any number of ranks.
  std::function<nn::AnyModule<Tensor(const Tensor& x)>()> make;
};

/// What the last stage makes of the last layer's output and of the targets: a ShardLoss.
struct PipelineLoss {
  /// What makes the module.
  using Make = std::function<nn::AnyModule<ShardLoss(const Tensor& x, const Tensor& targets)>()>;
  /// A function, or a lambda: `[](const Tensor& y, const Tensor& targets) { return mse_loss(y, targets); }`
  template <std::invocable<const Tensor&, const Tensor&> F>
  PipelineLoss(F f) : make([f] { return Function{f}; }) {}
  /// A module with parameters, made and named like a layer.
  PipelineLoss(std::string its_name, Make makes) : name(std::move(its_name)), make(std::move(makes)) {}

  std::string name;  // of a module, as of a layer
  Make make;         // called on the last rank

 private:
  struct Function : nn::Module {
    explicit Function(std::function<ShardLoss(const Tensor&, const Tensor&)> f) : f_(std::move(f)) {}
    ShardLoss operator()(const Tensor& x, const Tensor& targets) const { return f_(x, targets); }

   private:
    std::function<ShardLoss(const Tensor&, const Tensor&)> f_;
  };
};

/// A model as a list of layers. Its parameters are named as those of one nn::Module with these parts.
struct PipelineModel {
  std::vector<PipelineLayer> layers;  // from the first to the last
  PipelineLoss loss;                  // on the last stage
  /// Pairs of parameters with the same values, of which the first is a copy of the second that counts and is
  /// saved once: `{{"head.weight", "token_embedding.weight"}}`. The optimizers of both must be the same.
  std::vector<std::pair<std::string, std::string>> tied = {};
};

/// A GPT: its embedding, then its blocks; the loss has final norm and head. Parameters are called as in
/// nn::GPT, whose weights it can load, and are initialized in the same way. Throws for positions that all
/// blocks share (relative), and for placements with initial values of their own.
PipelineModel gpt_layers(const nn::GPTOptions& options);

struct PipelineOptions {
  /// Into how many equal parts a batch is cut, one after another. Results depend on it, not on the ranks.
  /// With n ranks and m of them each rank is idle for (n - 1) / (m + n - 1) of the time if all layers take
  /// equally long: take several times the ranks.
  int micro_batches = 8;
  /// How many layers each rank has, for layers of different sizes; not given: as equal as possible.
  std::vector<int> layers = {};
  /// Of initial values and of the layers' random numbers. Not given: taken from default_generator(), which
  /// must be at the same place on all ranks.
  std::optional<std::uint64_t> seed = {};
};

/// A rank's stage. All calls but stage(), state_dict(), load_state_dict() and steps() are collective.
class Pipeline {
 public:
  /// Makes this rank's layers. Throws, on all ranks, when there are fewer layers than ranks, names are taken
  /// or unknown, or ranks have different options.
  Pipeline(Communicator world, const PipelineModel& model, const PipelineOptions& options = {});
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Passes a batch, inputs and targets [rows, ...], the same on all ranks, through all stages and back; adds
  /// the gradient of its loss to every parameter's grad() and returns the loss, on all ranks. The losses of
  /// the micro-batches are added like those of shards (see ShardLoss), their gradients one after another.
  /// Each layer draws from a generator that depends on seed, step, micro-batch and layer. A parameter that
  /// no loss reaches gets no gradient, as in one process: for a stage without any, leave out its optimizer's
  /// step(), which would throw. Throws unless the micro-batches divide the rows, and on all ranks (a
  /// CommonError) unless they make the same call after the same number of steps with the same batch.
  double backward(const Tensor& inputs, const Tensor& targets);
  /// The loss of a batch without gradients. `pipeline.stage().eval(); const double loss = pipeline.loss(x,
  /// y);`
  double loss(const Tensor& inputs, const Tensor& targets) const;
  /// Like optim::clip_grad_norm() for the parameters of all stages, with the bits of one process.
  double clip_grad_norm(double max_norm);

  /// This rank's layers: parameters() for its optimizer, train() and eval().
  const nn::Module& stage() const;
  /// This rank's tensors, each with its name in the whole model; a tied copy is left out. See gather() and
  /// pieces(): `state.add_all("model.", pipeline.state_dict());`
  StateDict state_dict() const;
  /// Copies this rank's tensors out of the state of the whole model, of an nn::GPT for example. Throws,
  /// changing nothing on this rank, when one is missing or no rank has one of that name.
  void load_state_dict(const StateDict& whole);
  /// How many times backward() was called.
  std::int64_t steps() const;
  /// Goes on as after so many steps, for a checkpoint: random numbers depend on it.
  void set_steps(std::int64_t steps);

 private:
  struct State;
  class Step;
  void make_stage(const PipelineModel& model, const std::vector<int>& first_layers);
  void tie(const std::vector<std::pair<std::string, std::string>>& pairs);
  void copy_tied_values() const;
  void finish_gradients(const std::vector<Array>& before, double count);
  std::unique_ptr<State> state_;
};

}  // namespace gradus::distributed
