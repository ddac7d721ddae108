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

#include "gradus/core/check.h"
#include "gradus/distributed/detail/generator_guard.h"
#include "gradus/distributed/detail/stage.h"
#include "gradus/ops/ops.h"

namespace gradus::distributed {

using namespace detail;

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
  }

  int micro_batches() const { return s_.options.micro_batches; }

  void forward(int k) {
    Pass pass;
    Tensor h;
    if (s_.is_first()) {
      h = part(inputs_, k);
    } else {
      h = receive();
      if (grad_enabled()) pass.input = h.requires_grad_();
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
      send_activations(h.detach().contiguous());
    }
    if (grad_enabled()) passes_.push_back(std::move(pass));
  }

  void backward() {
    Pass pass = std::move(passes_.front());
    passes_.pop_front();
    Tensor gradient = pass.gradient;
    if (!s_.is_last()) {
      gradient = Tensor(Array::empty(pass.output.shape(), pass.output.dtype(), op_));
      s_.world.recv(gradient, s_.world.rank() + 1, kBackwardTag);
    }
    if (pass.output.requires_grad()) {
      const EarlyGrads early([this](Node&) { send_on(); });
      pass.output.backward(gradient);
    }
    if (s_.is_first()) return;
    const Tensor of_input = pass.input.grad();
    const Tensor sent = of_input.defined() ? of_input.contiguous() : zeros_like(pass.input.detach());
    sending_.push_back(s_.world.isend(sent, s_.world.rank() - 1, kBackwardTag));
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
    Tensor input;     // a leaf; undefined on the first rank
    Tensor output;    // with its tape
    Tensor gradient;  // of the output, on the last rank
  };
  /// What goes before activations: step, rows of the batch, dtype, shape.
  static constexpr std::int64_t kHeader = 4 + Dims::kMaxRank;

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
    if (count == 0) {  // 0 terms cost nothing, even if their mean is NaN
      pass.output = zeros({1}, of.loss.dtype());
      return;
    }
    const double factor = of.is_sum ? 1 : count;
    loss_ += of.loss.item() * factor;
    count_ += count;
    pass.output = of.loss;
    pass.gradient = full(of.loss.shape(), factor, of.loss.dtype());
  }

  void send_activations(const Tensor& h) {
    std::vector<std::int64_t> header{s_.steps, inputs_.size(0), static_cast<std::int64_t>(h.dtype()),
                                     h.dim()};
    for (int i = 0; i < h.dim(); ++i) header.push_back(h.shape()[i]);
    header.resize(kHeader);
    const int to = s_.world.rank() + 1;
    sending_.push_back(s_.world.isend(from_vector(header), to, kForwardTag));
    sending_.push_back(s_.world.isend(h, to, kForwardTag));
  }

  Tensor receive() const {
    const int from = s_.world.rank() - 1;
    const Tensor message = zeros({kHeader}, i64);
    s_.world.recv(message, from, kForwardTag);
    const std::vector<std::int64_t> header = message.to_vector<std::int64_t>();
    check(header[0] == s_.steps,
          "{}: rank {} has done {} steps, rank {} {}: set_steps() to the same on every rank", op_, from,
          header[0], s_.world.rank(), s_.steps);
    check(header[1] == inputs_.size(0),
          "{}: rank {} has a batch of {} rows, rank {} one of {}: every rank passes "
          "the same batch",
          op_, from, header[1], s_.world.rank(), inputs_.size(0));
    Shape shape;
    for (std::int64_t i = 0; i < header[3]; ++i) shape.push_back(header[static_cast<std::size_t>(4 + i)]);
    Tensor h(Array::empty(shape, static_cast<DType>(header[2]), op_));
    s_.world.recv(h, from, kForwardTag);
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

/// Sums the gradients of tied parameters, the original's and the copy's; divides all by the count of the
/// batch.
void Pipeline::finish_gradients(const std::vector<Array>& before, double count) {
  const State& s = *state_;
  const NoGrad no_grad;
  const auto gradient_of = [&](const nn::Parameter& parameter) {
    return parameter.grad().defined() ? parameter.grad().contiguous() : zeros_like(parameter.detach());
  };
  for (const State::Tie& tie : s.ties) {
    const bool original = s.world.rank() == tie.original_rank, copy = s.world.rank() == tie.copy_rank;
    if (!original && !copy) continue;
    const nn::Parameter own = s.stage.parameter(original ? tie.original : tie.copy);
    const Tensor mine = gradient_of(own);
    if (original && copy) {
      const nn::Parameter other = s.stage.parameter(tie.copy);
      const Tensor sum = mine + gradient_of(other);
      own.node()->grad = sum.array();
      other.node()->grad = sum.array().clone();
      continue;
    }
    const int peer = original ? tie.copy_rank : tie.original_rank;
    const Tensor others = empty_like(own.detach());
    Work sent = s.world.isend(mine, peer, kTiedTag);
    s.world.recv(others, peer, kTiedTag);
    sent.wait();
    own.node()->grad = (original ? mine + others : others + mine).array();
  }
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
