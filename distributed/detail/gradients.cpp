#include "gradus/distributed/detail/gradients.h"

#include <utility>

#include "gradus/core/check.h"
#include "gradus/ops/ops.h"

namespace gradus::distributed::detail {

Gradients::Gradients(Communicator world, std::vector<Tensor> parameters, std::int64_t bucket_bytes,
                     bool sliced)
    : world_(std::move(world)),
      parameters_(std::move(parameters)),
      layout_(parameters_, bucket_bytes, world_.size()),
      sliced_(sliced),
      slices_(layout_.buckets().size()),
      used_(parameters_.size()) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) numbers_[parameters_[i].node().get()] = i;
}

std::optional<std::size_t> Gradients::number_of(const Node* leaf) const {
  const auto found = numbers_.find(leaf);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

Array Gradients::own(std::size_t i) const {
  const Range own = layout_.own(i, world_.rank());
  if (!sliced_) {
    const Tensor whole = parameters_[i].grad();
    if (!whole.defined()) return {};
    return whole.array().reshape({whole.numel()}).slice(0, own.begin, own.end);
  }
  if (!used_[i]) return {};
  const Place& place = layout_.place(i);
  const std::int64_t begin =
      own.size() == 0
          ? 0
          : place.range.begin + own.begin - layout_.buckets()[place.bucket].slices.of(world_.rank()).begin;
  return slices_[place.bucket].slice(0, begin, begin + own.size());
}

void Gradients::zero() {
  for (const Tensor& parameter : parameters_) parameter.zero_grad();
  for (Array& slice : slices_) slice = Array();
  used_.assign(used_.size(), false);
}

void Gradients::share(const std::vector<Array>& flat) const {
  if (world_.size() == 1) return;
  for (const Bucket& bucket : layout_.buckets()) {
    const Call call = world_.traffic().begin(Kind::all_gather);
    const Array all = Array::zeros({bucket.slices.size()}, bucket.dtype);
    const auto each = [&](auto f) {
      for (const std::size_t i : bucket.parameters)
        if (flat[i].defined()) f(i, all.slice(0, layout_.place(i).range.begin, layout_.place(i).range.end));
    };
    each([&](std::size_t i, const Array& part) {
      const Range own = layout_.own(i, world_.rank());
      part.slice(0, own.begin, own.end).copy_(flat[i].slice(0, own.begin, own.end));
    });
    TreeOperation operation(world_.traffic(), call, all, bucket.slices, TreeOperation::share);
    world_.traffic().wait(operation);
    each([&](std::size_t i, const Array& part) { flat[i].copy_(part); });
  }
}

GradientStep::GradientStep(Gradients& all) : all_(all), arrived_(all.parameters_.size()) {
  for (const Tensor& parameter : all_.parameters_) {
    before_.push_back(parameter.grad().defined() ? parameter.grad().array() : Array());
    parameter.zero_grad();
  }
  used_ = zeros({static_cast<std::int64_t>(before_.size())}, f64);
}

GradientStep::~GradientStep() {
  if (finished_) return;
  // The ranks no longer make the same calls.
  if (all_.world_.size() > 1)
    all_.world_.traffic().interrupt({all_.sliced_ ? Kind::reduce_scatter : Kind::all_reduce, 0});
  for (std::size_t i = 0; i < before_.size(); ++i) all_.parameters_[i].node()->grad = std::move(before_[i]);
}

void GradientStep::end_shard() {
  std::vector<Array> shard;
  const std::span<double> used = used_.mutable_span<double>();
  for (std::size_t i = 0; i < before_.size(); ++i) {
    shard.push_back(std::exchange(all_.parameters_[i].node()->grad, Array()));
    if (shard.back().defined()) ++used[i];
  }
  shards_.add(std::move(shard));
}

void GradientStep::begin_last(Finish finish) {
  finish_ = std::move(finish);
  for (const Bucket& bucket : all_.layout_.buckets()) {
    const Call call = all_.world_.traffic().begin(all_.sliced_ ? Kind::reduce_scatter : Kind::all_reduce);
    sums_.push_back({.call = call, .missing = bucket.parameters.size()});
  }
}

void GradientStep::arrive(Node& leaf) {
  const std::optional<std::size_t> i = all_.number_of(&leaf);
  if (!i) return;
  ++used_.mutable_span<double>()[*i];
  put(*i, std::exchange(leaf.grad, Array()));
  poll();
}

/// The last shard's gradient of a parameter, or none: adds those of the other shards; begins to sum the
/// bucket once it is full.
void GradientStep::put(std::size_t i, Array last) {
  arrived_[i] = true;
  const Place& place = all_.layout_.place(i);
  const Bucket& bucket = all_.layout_.buckets()[place.bucket];
  Sum& sum = sums_[place.bucket];
  if (!sum.flat.defined()) sum.flat = Array::empty({bucket.slices.size()}, bucket.dtype, "DataParallel");
  const Array part = sum.flat.slice(0, place.range.begin, place.range.end);
  last = shards_.with_last(i, std::move(last));
  if (last.defined())
    part.copy_(last.reshape({part.numel()}));
  else
    part.fill_(0);
  if (--sum.missing > 0) return;
  sum.operation = std::make_unique<TreeOperation>(
      all_.world_.traffic(), sum.call, sum.flat, bucket.slices,
      all_.sliced_ ? TreeOperation::sum : TreeOperation::sum_and_share, finish_);
}

/// Frees the rest of the bucket.
void GradientStep::take_slice(std::size_t bucket) {
  const Range own = all_.layout_.buckets()[bucket].slices.of(all_.world_.rank());
  sums_[bucket].own = sums_[bucket].flat.slice(0, own.begin, own.end).clone();
  sums_[bucket].flat = Array();
}

/// Whether all sums are done.
bool GradientStep::poll() {
  bool all_done = true;
  for (std::size_t b = 0; b < sums_.size(); ++b) {
    Sum& sum = sums_[b];
    if (!sum.operation || !sum.operation->poll()) {
      all_done = all_done && !sum.operation && sum.missing == 0;
      continue;
    }
    sum.operation.reset();
    if (all_.sliced_) take_slice(b);
  }
  return all_done;
}

/// For waiting: all sums that are under way, in the name of the first.
class GradientStep::AllSums final : public Operation {
 public:
  explicit AllSums(GradientStep& step) : Operation(step.sums_[0].call), step_(step) {}
  bool poll() override {
    if (step_.poll()) return true;
    for (const Sum& sum : step_.sums_)
      if (sum.operation) {
        wait_as(*sum.operation);
        break;
      }
    return false;
  }

 private:
  GradientStep& step_;
};

void GradientStep::finish() {
  const std::vector<Tensor>& parameters = all_.parameters_;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!arrived_[i]) put(i, Array());
  AllSums all(*this);
  all_.world_.traffic().wait(all);
  all_.world_.all_reduce(used_);
  const std::span<const double> used = std::as_const(used_).span<double>();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (all_.sliced_) {
      if (used[i] > 0) all_.used_[i] = true;
      continue;
    }
    Array sum = before_[i];
    if (used[i] > 0) {
      const Place& place = all_.layout_.place(i);
      sum = sums_[place.bucket]
                .flat.slice(0, place.range.begin, place.range.end)
                .reshape(parameters[i].shape());
      if (before_[i].defined()) sum.add_(before_[i]);
    }
    parameters[i].node()->grad = std::move(sum);
  }
  for (std::size_t b = 0; all_.sliced_ && b < sums_.size(); ++b) {
    Array& kept = all_.slices_[b];
    if (kept.defined())
      kept.add_(sums_[b].own);
    else
      kept = std::move(sums_[b].own);
  }
  finished_ = true;
}

}  // namespace gradus::distributed::detail
