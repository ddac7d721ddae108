#include "gradus/distributed/model_parallel/across_ranks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "gradus/core/check.h"
#include "gradus/core/creation.h"
#include "gradus/core/io/checkpoint_parts.h"
#include "gradus/distributed/detail/names.h"
#include "gradus/optim/clip.h"

namespace gradus::distributed {

using namespace detail;

namespace {

template <class Entries>
std::vector<NameOnRanks> names_of(const Communicator& world, const Entries& own) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : own) names.push_back(name);
  return names_of_ranks(world, names);
}

/// A gradient's sum of squares, as grad_norm() adds it; 0 for none.
double sum_of_squares(const Tensor& gradient) {
  double total = 0;
  if (!gradient.defined()) return total;
  const Tensor sums = optim::block_sums(gradient);
  for (const double sum : sums.span<double>()) total += sum;
  return total;
}

/// Calls f with each element of a gradient; never for none.
template <class F>
void for_each_element(const Tensor& gradient, F f) {
  if (!gradient.defined()) return;
  const Tensor wide = gradient.detach().to(f64).contiguous();
  for (const double value : wide.span<double>()) f(value);
}

/// The norm if the sum of squares overflows or underflows, in the steps of optim::grad_norm(): the sum goes
/// from rank to rank.
double scaled_norm(const Communicator& world, const std::vector<NameOnRanks>& names, const StateDict& own) {
  double largest = 0;
  for (const auto& [name, parameter] : own)
    for_each_element(parameter.grad(), [&](double value) { largest = std::max(largest, std::abs(value)); });
  const Tensor all = world.all_gather(full({1}, largest, f64));
  for (const double of_rank : all.span<double>()) largest = std::max(largest, of_rank);
  if (largest == 0 || std::isinf(largest)) return largest;
  const Tensor sum = zeros({1}, f64);
  for (std::size_t i = 0; i < names.size();) {
    const int rank = names[i].ranks[0];
    double so_far = sum.item();
    for (; i < names.size() && names[i].ranks[0] == rank; ++i)
      if (world.rank() == rank)
        for_each_element(own.find(names[i].name)->grad(),
                         [&](double value) { so_far += (value / largest) * (value / largest); });
    sum.fill_(so_far);
    world.broadcast(sum, rank);
  }
  return largest * std::sqrt(sum.item());
}

/// A tensor's dtype and shape, in a fixed number of integers.
constexpr std::int64_t kHeader = 2 + Dims::kMaxRank;

}  // namespace

double clip_grad_norm(const Communicator& world, const std::vector<StateDict::Entry>& named_parameters,
                      double max_norm) {
  check(max_norm > 0, "clip_grad_norm: expects a max_norm above 0, got {}", max_norm);
  const std::vector<NameOnRanks> names = names_of(world, named_parameters);
  const auto n = static_cast<std::int64_t>(names.size());
  StateDict own;
  std::vector<Tensor> parameters;
  for (const auto& [name, parameter] : named_parameters) {
    own.set(name, parameter);
    parameters.push_back(parameter);
  }
  const Tensor mine = zeros({n}, f64);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const Tensor* const parameter = own.find(names[i].name))
      mine.mutable_span<double>()[i] = sum_of_squares(parameter->grad());
  const Tensor all = world.all_gather(mine);
  double total = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto of = [&](int rank) {
      return all.span<double>()[static_cast<std::size_t>(rank) * names.size() + i];
    };
    const int first = names[i].ranks[0];
    for (const int rank : names[i].ranks)
      if (std::bit_cast<std::uint64_t>(of(rank)) != std::bit_cast<std::uint64_t>(of(first)) &&
          !(std::isnan(of(rank)) && std::isnan(of(first))))
        throw CommonError("clip_grad_norm: the gradient of " + names[i].name + " is not the same on rank " +
                          std::to_string(first) + " and rank " + std::to_string(rank) +
                          ": both compute the same from the same batch and random numbers");
    total += of(first);
  }
  using Limits = std::numeric_limits<double>;
  const bool good = std::isnan(total) || (total > Limits::min() / Limits::epsilon() && std::isfinite(total));
  const double norm = good ? std::sqrt(total) : scaled_norm(world, names, own);
  optim::clip_grads_with_norm(parameters, max_norm, norm);
  return norm;
}

StateDict gather(const Communicator& world, const StateDict& tensors) {
  StateDict whole;
  for (const auto& [name, ranks] : names_of(world, tensors)) {
    const Tensor* const own = tensors.find(name);
    const Tensor header = zeros({kHeader}, i64);
    const bool is_root = world.rank() == ranks[0];
    if (is_root) {
      const std::span<std::int64_t> to = header.mutable_span<std::int64_t>();
      to[0] = static_cast<std::int64_t>(own->dtype());
      to[1] = own->dim();
      for (int i = 0; i < own->dim(); ++i) to[static_cast<std::size_t>(2 + i)] = own->shape()[i];
    }
    world.broadcast(header, ranks[0]);
    const std::vector<std::int64_t> sizes = header.to_vector<std::int64_t>();
    Shape shape;
    for (std::int64_t i = 0; i < sizes[1]; ++i) shape.push_back(sizes[static_cast<std::size_t>(2 + i)]);
    const Tensor values = is_root ? Tensor(own->array().clone())
                                  : Tensor(Array::empty(shape, static_cast<DType>(sizes[0]), "gather"));
    world.broadcast(values, ranks[0]);
    whole.set(name, values);
  }
  return whole;
}

StateDict pieces(const Communicator& world, const StateDict& tensors) {
  StateDict result;
  for (const auto& [name, ranks] : names_of(world, tensors)) {
    const Tensor* const own = tensors.find(name);
    if (!own) continue;
    if (ranks.size() == static_cast<std::size_t>(world.size()))
      result.set(name, *own);
    else if (world.rank() == ranks[0])
      result.set(io::piece_name(name, 0, own->shape()), Tensor(own->array().reshape({own->numel()})));
  }
  return result;
}

}  // namespace gradus::distributed
