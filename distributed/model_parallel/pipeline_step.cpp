// Pipeline::backward: the micro-batches of one batch on their way through this rank's stage and back.
//
//   3 ranks, 5 micro-batches; F: forward, B: backward
//   rank 0   F0 F1 F2          B0 F3       B1 F4       B2    B3    B4
//   rank 1      F0 F1       B0 F2    B1    F3 B2       F4 B3    B4
//   rank 2         F0 B0       F1 B1    F2 B2       F3 B3    F4 B4
//
// Rank r of n has done at most n - r more forwards than backwards. Messages are sent without waiting, so that
// two neighbours that send to each other do not wait for each other.

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>

#include "gradus/core/check.h"
#include "gradus/distributed/detail/digests.h"
#include "gradus/distributed/detail/generator_guard.h"
#include "gradus/distributed/detail/stage.h"
#include "gradus/ops/ops.h"

namespace gradus::distributed {

using namespace detail;

namespace {

/// Sends a gradient, or that there is none. Zeros in its place would give other weights: those with a
/// gradient decay, and 0 * inf is NaN.
void send_gradient(const Communicator& world, const Tensor& gradient, int to, int tag,
                   std::deque<Work>& sending) {
  sending.push_back(world.isend(tensor({std::int64_t{gradient.defined()}}), to, tag));
  if (gradient.defined()) sending.push_back(world.isend(gradient.contiguous(), to, tag));
}

/// The gradient of x; undefined if there is none.
Tensor receive_gradient(const Communicator& world, const Tensor& x, int from, int tag) {
  const Tensor defined = zeros({1}, i64);
  world.recv(defined, from, tag);
  if (defined.item<std::int64_t>() == 0) return {};
  Tensor gradient(Array::empty(x.shape(), x.dtype(), "Pipeline"));
  world.recv(gradient, from, tag);
  return gradient;
}

}  // namespace

/// One batch on one rank.
class Pipeline::Step {
 public:
  Step(const State& state, const char* op, const Tensor& inputs, const Tensor& targets)
      : s_(state), op_(op), inputs_(inputs), targets_(targets) {
    for (const auto& [what, tensor] : {std::pair{"inputs", &inputs}, std::pair{"targets", &targets}})
      check(tensor->defined() && tensor->dim() >= 1, "{}: expects {} [rows, ...], got {}", op, what,
            tensor->defined() ? to_string(tensor->shape()) : "an undefined tensor");
    check(inputs.size(0) == targets.size(0), "{}: inputs {} and targets {} have different numbers of rows",
          op, inputs.shape(), targets.shape());
    const std::int64_t rows = inputs.size(0);
    check(rows >= 1 && rows % micro_batches() == 0,
          "{}: a batch of {} rows cannot be cut into {} equal micro-batches: choose a batch_size that "
          ".micro_batches divides, and leave out a smaller last batch with drop_last",
          op, rows, micro_batches());
    if (s_.world.size() > 1)
      s_.world.expect_same("A Pipeline's call, steps and batch (shape, dtype, checksum)",
                           std::string(op) + " after " + std::to_string(s_.steps) + " steps (set_steps), " +
                               digest("inputs", inputs.detach()) + ", " +
                               digest("targets", targets.detach()));
  }

  int micro_batches() const { return s_.options.micro_batches; }

  void forward(int k) {
    Pass pass;
    Tensor h;
    if (s_.is_first()) {
      h = part(inputs_, k);
    } else {
      h = receive();
      pass.input = h;
    }
    for (std::size_t i = 0; i < s_.layers.size(); ++i) {
      begin_layer(k, s_.first + static_cast<int>(i));
      h = s_.layers[i](h);
      send_on();
    }
    check(h.defined(), "{}: the last layer of rank {} returned an undefined tensor", op_, s_.world.rank());
    if (s_.is_last()) {
      begin_layer(k, s_.all);
      add_loss((*s_.loss)(h, part(targets_, k)), pass);
    } else {
      check(is_floating(h.dtype()),
            "{}: the last layer of rank {} returns {} {}: stages pass on f32 or f64, which have gradients",
            op_, s_.world.rank(), h.dtype(), h.shape());
      pass.output = h;
      send_activations(h);
    }
    if (grad_enabled()) passes_.push_back(std::move(pass));
  }

  void backward() {
    Pass pass = std::move(passes_.front());
    passes_.pop_front();
    Tensor gradient = pass.gradient;
    if (!s_.is_last() && pass.output.requires_grad())
      gradient = receive_gradient(s_.world, pass.output, s_.world.rank() + 1, kBackwardTag);
    if (gradient.defined() && pass.output.requires_grad()) {
      const EarlyGrads early([this](Node&) { send_on(); });
      pass.output.backward(gradient);
    }
    if (pass.input.requires_grad())
      send_gradient(s_.world, pass.input.grad(), s_.world.rank() - 1, kBackwardTag, sending_);
  }

  /// Returns when all messages have arrived: loss and count of the batch, on every rank.
  Mean finish() {
    for (Work& work : sending_) work.wait();
    const Tensor figures = zeros({2}, f64);
    figures.mutable_span<double>()[0] = loss_;
    figures.mutable_span<double>()[1] = count_;
    s_.world.broadcast(figures, s_.world.size() - 1);
    return {figures[0], figures[1].item()};
  }

 private:
  /// A micro-batch between its forward and its backward.
  struct Pass {
    Tensor input;     // a leaf, which requires grad if it did on the rank before; undefined on the first
    Tensor output;    // with its tape; undefined for a loss of 0 terms
    Tensor gradient;  // of the output, on the last rank
  };
  /// What goes before activations: dtype, whether they require grad, shape.
  static constexpr std::int64_t kHeader = 3 + Dims::kMaxRank;

  Tensor part(const Tensor& batch, int k) const {
    const std::int64_t rows = batch.size(0) / micro_batches();
    return batch.slice(0, k * rows, (k + 1) * rows);
  }

  /// A generator of its own for each layer, in each micro-batch of each step.
  void begin_layer(int k, int layer) const {
    const std::int64_t place = std::int64_t{k} * (s_.all + 1) + layer;
    default_generator() = Generator(s_.seed, static_cast<std::uint64_t>(((s_.steps + 1) << 32) + place));
  }

  void add_loss(const ShardLoss& of, Pass& pass) {
    check(of.loss.defined() && of.loss.numel() == 1, "{}: expects a loss of one element, got {}", op_,
          of.loss.defined() ? to_string(of.loss.shape()) : "an undefined tensor");
    const double count = of.count ? *of.count : static_cast<double>(targets_.size(0) / micro_batches());
    check(count >= 0 && std::isfinite(count), "{}: expects a count of 0 or more, got {}", op_, count);
    if (count == 0) return;  // 0 terms cost nothing, even if their mean is NaN
    const double factor = of.is_sum ? 1 : count;
    loss_ += of.loss.item() * factor;
    count_ += count;
    pass.output = of.loss;
    pass.gradient = full(of.loss.shape(), factor, of.loss.dtype());
  }

  void send_activations(const Tensor& h) {
    std::vector<std::int64_t> header{static_cast<std::int64_t>(h.dtype()),
                                     grad_enabled() && h.requires_grad(), h.dim()};
    for (int i = 0; i < h.dim(); ++i) header.push_back(h.shape()[i]);
    header.resize(kHeader);
    const int to = s_.world.rank() + 1;
    sending_.push_back(s_.world.isend(from_vector(header), to, kForwardTag));
    sending_.push_back(s_.world.isend(h.detach().contiguous(), to, kForwardTag));
  }

  Tensor receive() const {
    const int from = s_.world.rank() - 1;
    const Tensor message = zeros({kHeader}, i64);
    s_.world.recv(message, from, kForwardTag);
    const std::vector<std::int64_t> header = message.to_vector<std::int64_t>();
    Shape shape;
    for (std::int64_t i = 0; i < header[2]; ++i) shape.push_back(header[static_cast<std::size_t>(3 + i)]);
    Tensor h(Array::empty(shape, static_cast<DType>(header[0]), op_));
    s_.world.recv(h, from, kForwardTag);
    if (header[1] != 0) h.requires_grad_();
    return h;
  }

  /// Messages move on, and what has arrived is freed.
  void send_on() {
    std::deque<Work> rest;
    for (Work& work : sending_)
      if (!work.done()) rest.push_back(std::move(work));
    sending_.swap(rest);
  }

  const State& s_;
  const char* op_;
  const Tensor &inputs_, &targets_;
  std::deque<Pass> passes_;
  std::deque<Work> sending_;
  double loss_ = 0, count_ = 0;  // sums over the micro-batches, on the last rank
};

double Pipeline::backward(const Tensor& inputs, const Tensor& targets) {
  Step step(*state_, "Pipeline::backward", inputs, targets);
  const TensorList parameters = state_->stage.parameters();
  std::vector<Array> before;  // gradients of earlier calls, to which these are added
  for (const Tensor& parameter : parameters) {
    before.push_back(parameter.grad().defined() ? parameter.grad().array() : Array());
    parameter.zero_grad();
  }
  Mean result;
  {
    const GeneratorGuard guard;
    const EnableGrad tape;
    const int all = step.micro_batches(),
              ahead = std::min(state_->world.size() - 1 - state_->world.rank(), all);
    for (int k = 0; k < ahead; ++k) step.forward(k);
    for (int k = ahead; k < all; ++k) {
      step.forward(k);
      step.backward();
    }
    for (int k = 0; k < ahead; ++k) step.backward();
    result = step.finish();
  }
  finish_gradients(before, result.count);
  ++state_->steps;
  return result.count > 0 ? result.loss.item() / result.count : 0;
}

double Pipeline::loss(const Tensor& inputs, const Tensor& targets) const {
  Step step(*state_, "Pipeline::loss", inputs, targets);
  const GeneratorGuard guard;
  const NoGrad no_grad;
  for (int k = 0; k < step.micro_batches(); ++k) step.forward(k);
  const Mean result = step.finish();
  return result.count > 0 ? result.loss.item() / result.count : 0;
}

/// Sums the gradients of tied parameters, the original's and the copies'; divides all by the count of the
/// batch. A parameter without a gradient keeps none.
void Pipeline::finish_gradients(const std::vector<Array>& before, double count) {
  const State& s = *state_;
  const NoGrad no_grad;
  std::deque<Work> sending;
  const auto add = [](const nn::Parameter& to, const Tensor& gradient) {
    if (!gradient.defined()) return;
    to.node()->grad = (to.grad().defined() ? to.grad() + gradient : gradient).array();
  };
  const auto same_rank = [](const State::Tie& tie) { return tie.original_rank == tie.copy_rank; };
  for (const State::Tie& tie : s.ties)  // to the originals
    if (s.world.rank() == tie.original_rank) {
      const nn::Parameter original = s.stage.parameter(tie.original);
      add(original, same_rank(tie) ? s.stage.parameter(tie.copy).grad()
                                   : receive_gradient(s.world, original, tie.copy_rank, kTiedTag));
    } else if (s.world.rank() == tie.copy_rank) {
      send_gradient(s.world, s.stage.parameter(tie.copy).grad(), tie.original_rank, kTiedTag, sending);
    }
  for (const State::Tie& tie : s.ties)  // and back
    if (s.world.rank() == tie.copy_rank) {
      const nn::Parameter copy = s.stage.parameter(tie.copy);
      const Tensor sum = same_rank(tie) ? s.stage.parameter(tie.original).grad()
                                        : receive_gradient(s.world, copy, tie.original_rank, kTiedTag);
      copy.node()->grad = !sum.defined() ? Array() : same_rank(tie) ? sum.array().clone() : sum.array();
    } else if (s.world.rank() == tie.original_rank) {
      send_gradient(s.world, s.stage.parameter(tie.original).grad(), tie.copy_rank, kTiedTag, sending);
    }
  for (Work& work : sending) work.wait();
  const TensorList parameters = s.stage.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Array& gradient = parameters[i].node()->grad;
    if (gradient.defined() && count > 0 && count != 1) Tensor(gradient) *= 1 / count;
    if (!before[i].defined()) continue;
    if (gradient.defined())
      gradient.add_(before[i]);
    else
      gradient = before[i];
  }
}

}  // namespace gradus::distributed
