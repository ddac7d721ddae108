// checkpoint      y = f(x...)
//   forward       runs f as usual, on a separate tape. From that tape it reads which parameters and other
//                 tensors from outside f has used; then the tape and everything saved on it are dropped.
//   backward      restores the generator's state, runs f again on x, and passes dy back through this second
//                 tape, which ends at x and at the outside tensors f used. They are inputs of checkpoint's
//                 node, so the running pass has yet to visit them: gradients that reach them are added
//                 exactly where, and in the order in which, they would be without checkpoint.
//   derivative    the same with dy on the tape. What it records uses the second tape, which therefore stays
//                 as long as the gradients do: it is f's part of their tape.
// Saves x, f and the generator's state. f may hold tensors, an exception to the rule that saved values are
// data: like f, they are older than the node, so there is no cycle.

#include "gradus/ops/checkpoint.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/crc32.h"
#include "gradus/core/profile/profile.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/scope.h"

namespace gradus {

namespace {

/// Of up to 64 elements, evenly spread: f must give the same bits again.
std::uint32_t checksum(const Array& y) {
  const Array dense = y.contiguous();
  const std::int64_t n = dense.numel(), size = static_cast<std::int64_t>(size_of(dense.dtype()));
  const std::int64_t samples = std::min<std::int64_t>(n, 64);
  std::uint32_t crc = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t at = samples > 1 ? i * (n - 1) / (samples - 1) : 0;
    crc = io::crc32(static_cast<const char*>(dense.raw()) + at * size, static_cast<std::size_t>(size), crc);
  }
  return crc;
}

/// This thread's generator at another place for one scope.
class GeneratorAt {
 public:
  explicit GeneratorAt(const Generator::State& state) : before_(default_generator().state()) {
    default_generator().set_state(state);
  }
  ~GeneratorAt() { default_generator().set_state(before_); }
  GeneratorAt(const GeneratorAt&) = delete;
  GeneratorAt& operator=(const GeneratorAt&) = delete;

 private:
  Generator::State before_;
};

thread_local bool runs_again = false;

/// Says recomputing() for one scope.
class RunsAgain {
 public:
  ~RunsAgain() { runs_again = before_; }

 private:
  const bool before_ = std::exchange(runs_again, true);
};

class CheckpointNode final : public Node {
 public:
  CheckpointNode(const CheckpointFunction& f, const std::vector<Tensor>& x)
      : f_(f), before_(default_generator().state()) {
    op = "checkpoint";
    label = current_scope();
    for (const Tensor& input : x) {
      saved_.emplace_back(input.array());
      inputs.push_back(input.requires_grad() ? input.node() : NodePtr());
    }
  }

  /// Reads from y's tape, while it exists, what backward will need.
  void remember(const Tensor& y) {
    shape = y.shape();
    dtype = y.dtype();
    after_ = default_generator().state();
    result_ = checksum(y.array());
    add_used(y.node().get());
  }

  Grads backward(const Array& dy, Needs) override {
    const ProfileRange range("checkpoint", "accumulate");
    run_backward_within(*this, run_again(), dy);
    Grads none;  // the inputs have their gradients
    none.resize(inputs.size());
    return none;
  }

  std::vector<Tensor> derivative(const Tensor& dy, Needs) override {
    const ProfileRange range("checkpoint", "accumulate");
    run_backward_taped_within(*this, run_again(), dy);
    return std::vector<Tensor>(inputs.size());
  }

  void free_saved() override {
    f_ = nullptr;
    saved_.clear();
  }

 private:
  /// Adds to the inputs everything else older than this node that was used on the way to `root`.
  void add_used(Node* root) {
    std::unordered_set<const Node*> seen{root};
    for (const NodePtr& input : inputs) seen.insert(input.get());
    std::vector<Node*> stack{root};
    while (!stack.empty()) {
      const Node* const node = stack.back();
      stack.pop_back();
      for (const NodePtr& input : node->inputs) {
        if (!input || !seen.insert(input.get()).second) continue;
        if (input->order < order)
          inputs.push_back(input);
        else
          stack.push_back(input.get());
      }
    }
  }

  Tensor run_again() const {
    std::vector<Tensor> x;
    for (std::size_t i = 0; i < saved_.size(); ++i) x.emplace_back(saved_[i].get(), inputs[i]);
    const EnableGrad guard;
    const GeneratorAt generator(before_);
    const RunsAgain again;
    Tensor y = f_(x);
    check(y.defined() && y.shape() == shape && y.dtype() == dtype,
          "checkpoint backward: the function returned {} {} in the forward pass and now {}: it must compute "
          "the same again",
          dtype, shape, y.defined() ? fmt::format("{} {}", y.dtype(), y.shape()) : "no tensor");
    check(default_generator().state() == after_,
          "checkpoint backward: the function did not draw the random numbers of the forward pass again: was "
          "train() or eval() called in between?");
    check(y.requires_grad(),
          "checkpoint backward: the function's result no longer requires grad: was a parameter frozen since "
          "the forward pass?");
    check(checksum(y.array()) == result_ && y.node()->order > order,
          "checkpoint backward: the function computed another {} {} than in the forward pass: what it uses "
          "besides its inputs (parameters, modes, captured tensors, a generator, the instruction set and "
          "backend of products) must be as it was",
          dtype, shape);
    return y;
  }

  CheckpointFunction f_;
  std::vector<Saved> saved_;
  Generator::State before_, after_;
  std::uint32_t result_ = 0;
};

}  // namespace

bool recomputing() { return runs_again; }

Tensor checkpoint(const CheckpointFunction& f, const std::vector<Tensor>& inputs) {
  check(static_cast<bool>(f), "checkpoint: expects a function, got an empty one");
  const NodePtr node(new CheckpointNode(f, inputs));  // older than all that f records
  const Tensor y = f(inputs);
  check(y.defined(), "checkpoint: the function returned an undefined tensor");
  // Nothing to pass back, or an input that f only returns.
  if (!y.requires_grad() || y.node()->order < node->order) return y;
  static_cast<CheckpointNode&>(*node).remember(y);
  return Tensor(y.array(), node);
}

}  // namespace gradus
