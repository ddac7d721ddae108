#include "gradus/distributed/sharded.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/profile/profile.h"
#include "gradus/distributed/detail/gradients.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/clip.h"

namespace gradus::distributed {

using namespace detail;

namespace {

Array flat_view(const Tensor& x) { return x.array().reshape({x.numel()}); }
Array part_of(const Array& flat, const Range& range) { return flat.slice(0, range.begin, range.end); }

}  // namespace

ShardedOptimizer::ShardedOptimizer(DataParallel& parallel, const std::vector<optim::ParameterGroup>& groups)
    : parallel_(parallel) {
  const Gradients& all = parallel.gradients();
  std::vector<bool> taken(all.parameters().size());
  std::string text;  // what all ranks must agree on
  for (const optim::ParameterGroup& group : groups) {
    text += "parameters";
    optim::ParameterGroup& mine =
        slices_.emplace_back(optim::ParameterGroup{{}, group.lr, group.weight_decay});
    for (const Tensor& parameter : group.parameters) {
      const std::optional<std::size_t> number =
          parameter.defined() ? all.number_of(parameter.node().get()) : std::nullopt;
      check(number.has_value(),
            "Sharded: parameter {} is not one that the DataParallel trains: pass parameters of its model "
            "that were not frozen when it was made",
            parts_.size());
      check(!taken[*number], "Sharded: parameter {} is given twice", parts_.size());
      taken[*number] = true;
      text += " " + std::to_string(*number);
      const Range own = all.layout().own(*number, parallel.world().rank());
      Tensor slice(part_of(flat_view(parameter), own));
      slice.requires_grad_();
      mine.parameters.push_back(slice);
      parts_.push_back({*number, slice});
    }
    text += "; ";
  }
  parallel.world().expect_same("Sharded's groups of parameters", text);
}

ShardedOptimizer::~ShardedOptimizer() = default;

/// Of each part, from the DataParallel.
void ShardedOptimizer::take_gradients() {
  const Gradients& all = parallel_.gradients();
  for (Part& part : parts_) {
    part.slice.requires_grad_(all.parameters()[part.number].requires_grad());
    part.slice.set_grad(Tensor(all.own(part.number)));
  }
}

void ShardedOptimizer::step() {
  take_gradients();
  inner_->step();
  for (const Part& part : parts_) part.slice.zero_grad();
  const ProfileRange range("Sharded share");
  const Gradients& all = parallel_.gradients();
  std::vector<Array> flat(all.parameters().size());
  for (const Part& part : parts_) flat[part.number] = flat_view(all.parameters()[part.number]);
  all.share(flat);
}

void ShardedOptimizer::zero_grad() { parallel_.gradients().zero(); }

/// As in optim::grad_norm(): sums of blocks, which are whole in one slice, then of parameters. Nothing when
/// it overflows or underflows.
std::optional<double> ShardedOptimizer::sum_of_squares(const std::vector<std::size_t>& numbers) const {
  const Gradients& all = parallel_.gradients();
  const auto blocks = [&](std::size_t i) {
    return (all.parameters()[i].numel() + optim::kNormBlock - 1) / optim::kNormBlock;
  };
  std::int64_t total = 0;
  for (const std::size_t i : numbers) total += blocks(i);
  const Tensor sums = zeros({total}, f64);
  std::int64_t first = 0;
  for (const std::size_t i : numbers) {
    const Range own = all.layout().own(i, parallel_.world().rank());
    if (const Array gradient = all.own(i); gradient.defined() && own.size() > 0) {
      const Tensor mine = optim::block_sums(Tensor(gradient));
      const std::int64_t begin = first + own.begin / optim::kNormBlock;
      sums.slice(0, begin, begin + mine.numel()).copy_(mine);
    }
    first += blocks(i);
  }
  parallel_.world().all_reduce(sums);  // of each block and zeros
  const double* next = sums.span<double>().data();
  double sum = 0;
  for (const std::size_t i : numbers) {
    double of_parameter = 0;
    for (std::int64_t block = 0; block < blocks(i); ++block) of_parameter += *next++;
    sum += of_parameter;
  }
  using Limits = std::numeric_limits<double>;
  const bool good = std::isnan(sum) || (sum > Limits::min() / Limits::epsilon() && std::isfinite(sum));
  return good ? std::optional(sum) : std::nullopt;
}

/// For sums that overflow or underflow, and for zeros: of whole gradients.
double ShardedOptimizer::norm_of_all(const std::vector<std::size_t>& numbers) const {
  const Gradients& all = parallel_.gradients();
  std::vector<Array> flat(all.parameters().size());
  std::vector<Tensor> leaves;
  for (const std::size_t i : numbers) {
    const Array own = all.own(i);
    if (!own.defined()) continue;
    const Tensor& parameter = all.parameters()[i];
    flat[i] = Array::zeros({parameter.numel()}, parameter.dtype());
    part_of(flat[i], all.layout().own(i, parallel_.world().rank())).copy_(own);
    leaves.push_back(Tensor(flat[i]).requires_grad_());
    leaves.back().set_grad(Tensor(flat[i]));
  }
  all.share(flat);
  return optim::grad_norm(leaves);
}

double ShardedOptimizer::clip_grad_norm(double max_norm) {
  const ProfileRange range("clip_grad_norm");
  const Gradients& all = parallel_.gradients();
  std::vector<std::size_t> numbers;
  for (const Part& part : parts_) numbers.push_back(part.number);
  std::sort(numbers.begin(), numbers.end());
  if (!all.sliced()) {
    std::vector<Tensor> parameters;
    for (const std::size_t i : numbers) parameters.push_back(all.parameters()[i]);
    return optim::clip_grad_norm(parameters, max_norm);
  }
  check(max_norm > 0, "clip_grad_norm: expects a max_norm above 0, got {}", max_norm);
  take_gradients();
  const std::optional<double> sum = sum_of_squares(numbers);
  const double norm = sum ? std::sqrt(*sum) : norm_of_all(numbers);
  std::vector<Tensor> slices;
  for (const Part& part : parts_) slices.push_back(part.slice);
  optim::clip_grads_with_norm(slices, max_norm, norm);
  for (const Part& part : parts_) part.slice.zero_grad();
  return norm;
}

}  // namespace gradus::distributed
