// VocabParallelHead::loss: linear_cross_entropy with the vocabulary in blocks b of rows W_b, on several
// ranks.
//   z_b = x W_b^T                           logits of some rows of x, for this rank's blocks
//   m_b = max z_b,  s_b = sum exp(z_b - m_b),  z_t where the target t is in b      gathered from all ranks
//   m = max_b m_b,  s = sum_b s_b exp(m_b - m)                        the same for any division among ranks
//   loss = m - z_t + log s
//   dz_b = g (exp(z_b - m) / s - [t in b]),   dW_b += dz_b^T x,   dx = sum_b dz_b W_b in a tree over the
//   blocks
//
// Forward does all of it, as linear_cross_entropy does: backward only multiplies by dloss, and sends nothing.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/tape/record.h"
#include "gradus/distributed/detail/digests.h"
#include "gradus/distributed/detail/shard_sums.h"
#include "gradus/distributed/model_parallel/vocab_parallel.h"

namespace gradus::distributed {

namespace {

using I = std::int64_t;

constexpr const char* kLoss = "VocabParallelHead::loss";
constexpr I kBytes = I{32} << 20, kRows = 64;  // a chunk's logits over all ranks; its fewest rows

/// A rank's blocks while the loss of one batch is computed.
struct Block {
  Tensor weight;
  I begin;           // its first class
  Tensor dw = {};    // the gradient for dloss = 1; undefined if none is wanted
  Tensor exps = {};  // exp(z - m_b) of the chunk, [n, rows of the block]
};

/// Throws unless all ranks have computed the same x for the same targets, and want the same loss of it.
void expect_same_batch(const Communicator& world, const Tensor& x, const Tensor& target,
                       const CrossEntropyOptions& options, bool taped) {
  if (world.size() == 1) return;
  world.expect_same(
      std::string(kLoss) + "'s target, x (shape, dtype, checksum) and options",
      detail::digest("target", target.detach()) + ", " + detail::digest("x", x.detach()) +
          (options.reduction == Reduction::sum ? ", sum" : ", mean") +
          (options.ignore_index ? ", ignore_index " + std::to_string(*options.ignore_index) : std::string()) +
          (taped ? ", with gradients" : ", without gradients"));
}

/// Of a row's logits, over all blocks: the largest, and the sum of exponentials of the others' distances to
/// it.
struct RowTotal {
  double largest, sum;
};

RowTotal total_of(const double* stats, std::size_t blocks, std::size_t step) {
  RowTotal total{-std::numeric_limits<double>::infinity(), 0};
  for (std::size_t b = 0; b < blocks; ++b) total.largest = std::max(total.largest, stats[b * step]);
  for (std::size_t b = 0; b < blocks; ++b)
    if (stats[b * step + 1] != 0)
      total.sum += stats[b * step + 1] * std::exp(stats[b * step] - total.largest);
  return total;
}

class LossOfChunks {
 public:
  LossOfChunks(const Communicator& world, std::vector<Block>& blocks, int all_blocks, I vocab,
               const std::vector<I>& targets, std::optional<I> ignored)
      : world_(world),
        blocks_(blocks),
        all_blocks_(static_cast<std::size_t>(all_blocks)),
        vocab_(vocab),
        targets_(targets),
        ignored_(ignored) {}

  bool ignored(I row) const { return ignored_ && targets_[static_cast<std::size_t>(row)] == *ignored_; }

  /// The sum of the losses of all rows of x [rows, C]; dx and each dw become the gradients of `share` times
  /// it.
  double run(const Tensor& x, double share, const Tensor& dx) {
    const I rows = x.size(0);
    const I most = std::max(kRows, kBytes / std::max<I>(1, vocab_ * static_cast<I>(size_of(x.dtype()))));
    double sum = 0;
    for (I first = 0; first < rows; first += most) {
      const Tensor chunk = x.slice(0, first, std::min(rows, first + most));
      const Tensor stats = multiply(chunk, first);
      sum += losses(stats, first, chunk.size(0));
      if (!dx.defined()) continue;
      turn_into_gradients(stats, first, chunk.size(0), share);
      add_gradients(chunk, first, dx.slice(0, first, first + chunk.size(0)));
    }
    if (dx.defined()) world_.all_reduce(dx);
    return sum;
  }

 private:
  /// This rank's logits and their exponentials; of each row and block of all ranks m_b, s_b and z_t or 0,
  /// [blocks, n, 3].
  Tensor multiply(const Tensor& chunk, I first) {
    const I n = chunk.size(0);
    const Tensor own = zeros({static_cast<I>(blocks_.size()), n, 3}, f64);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      Block& block = blocks_[b];
      const Tensor z = linear(chunk, block.weight);
      const Tensor largest = z.max(-1, true);
      // Where all logits are -inf, so that exp(z - m) would be NaN, each exponential is 0.
      block.exps = exp(z - where(largest == -INFINITY, tensor(0.0).to(z.dtype()), largest));
      const std::vector<double> maxima = largest.to_vector<double>(),
                                sums = block.exps.sum(-1).to_vector<double>();
      const Tensor rows = own.select(0, static_cast<I>(b));
      const std::span<double> to = rows.mutable_span<double>();
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        to[3 * i] = maxima[i], to[3 * i + 1] = sums[i];
        if (const I t = place_in(block, first + static_cast<I>(i)); t >= 0)
          to[3 * i + 2] = z.array().at({static_cast<I>(i), t});
      }
    }
    return world_.all_gather(own).reshape({static_cast<I>(all_blocks_), n, 3});
  }

  /// The row's target as a class of the block, or -1.
  I place_in(const Block& block, I row) const {
    const I t = targets_[static_cast<std::size_t>(row)] - block.begin;
    return !ignored(row) && t >= 0 && t < block.weight.size(0) ? t : -1;
  }

  double losses(const Tensor& stats, I first, I n) const {
    const std::span<const double> all = stats.span<double>();
    const std::size_t step = 3 * static_cast<std::size_t>(n);
    double sum = 0;
    for (I i = 0; i < n; ++i) {
      if (ignored(first + i)) continue;
      const double* const row = &all[3 * static_cast<std::size_t>(i)];
      const RowTotal total = total_of(row, all_blocks_, step);
      double target = 0;  // one block has it, the others 0
      for (std::size_t b = 0; b < all_blocks_; ++b)
        if (row[b * step + 2] != 0) target = row[b * step + 2];
      sum += total.largest - target + std::log(total.sum);
    }
    return sum;
  }

  /// exps become dz.
  void turn_into_gradients(const Tensor& stats, I first, I n, double share) {
    const std::span<const double> all = stats.span<double>();
    const std::size_t step = 3 * static_cast<std::size_t>(n);
    const std::size_t before = static_cast<std::size_t>(world_.rank()) * blocks_.size();
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      std::vector<double> factors(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < factors.size(); ++i) {
        if (ignored(first + static_cast<I>(i))) continue;
        const RowTotal total = total_of(&all[3 * i], all_blocks_, step);
        const double largest = all[(before + b) * step + 3 * i];
        factors[i] = share * std::exp(largest - total.largest) / total.sum;
      }
      Block& block = blocks_[b];
      block.exps *= from_vector(factors).to(block.exps.dtype()).unsqueeze(-1);
      for (I i = 0; i < n; ++i) {
        const Tensor row = block.exps.select(0, i);
        if (ignored(first + i)) row.fill_(0);  // its logits may be anything, and 0 * inf is NaN
        if (const I t = place_in(block, first + i); t >= 0) row.select(0, t) -= share;
      }
    }
  }

  void add_gradients(const Tensor& chunk, I first, const Tensor& dx) {
    detail::ShardSums sums;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      Block& block = blocks_[b];
      const Tensor product = matmul(block.exps.t(), chunk);
      first > 0 ? block.dw += product : block.dw = product;
      Array part = matmul(block.exps, block.weight).array();
      block.exps = {};
      if (b + 1 < blocks_.size())
        sums.add({std::move(part)});
      else
        dx.copy_(Tensor(sums.with_last(0, std::move(part))));
    }
  }

  const Communicator& world_;
  std::vector<Block>& blocks_;
  std::size_t all_blocks_;
  I vocab_;
  const std::vector<I>& targets_;
  std::optional<I> ignored_;
};

}  // namespace

Tensor VocabParallelHead::loss(const Tensor& x, const Tensor& target,
                               const CrossEntropyOptions& options) const {
  const Scope scope(path());
  check(x.defined() && x.dim() >= 1 && x.size(-1) == dim_ && x.dtype() == blocks[0].dtype(),
        "{}: expects x [..., {}] of {}, got {}", kLoss, dim_, blocks[0].dtype(),
        x.defined() ? std::string(name(x.dtype())) + " " + to_string(x.shape()) : "an undefined tensor");
  Shape rows = x.shape();
  rows.erase(rows.size() - 1);
  check(target.defined() && target.dtype() == i64 && target.shape() == rows,
        "{}: expects a target {} of i64 for x {}, got {}", kLoss, rows, x.shape(),
        target.defined() ? std::string(name(target.dtype())) + " " + to_string(target.shape())
                         : "an undefined tensor");
  check(
      options.reduction != Reduction::none && options.label_smoothing == 0 && !options.weight.defined(),
      "{}: takes reduction mean or sum and ignore_index; reduction none, label_smoothing and weight need all "
      "logits: use linear_cross_entropy with an undivided weight",
      kLoss);
  const bool taped = grad_enabled() && (x.requires_grad() || blocks[0].requires_grad());
  expect_same_batch(world_, x, target, options, taped);
  const std::vector<I> targets = target.to_vector<I>();
  double count = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (options.ignore_index && targets[i] == *options.ignore_index) continue;
    check(targets[i] >= 0 && targets[i] < vocab_,
          "{}: target {} of row {} is out of range: there are {} classes", kLoss, targets[i], i, vocab_);
    ++count;
  }
  const double share = options.reduction == Reduction::sum ? 1 : count > 0 ? 1 / count : 0;
  std::vector<Block> own;
  std::vector<const Tensor*> inputs{&x};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    own.push_back({.weight = blocks[i].detach(), .begin = begin(i)});
    inputs.push_back(&blocks[i]);
  }
  Tensor dx;
  double sum = 0;
  {
    const NoGrad no_grad;
    const Tensor flat = x.detach().contiguous().reshape({target.numel(), dim_});
    if (taped) dx = zeros(flat.shape(), x.dtype());
    if (flat.size(0) > 0)
      sum = LossOfChunks(world_, own, count_, vocab_, targets, options.ignore_index).run(flat, share, dx);
  }
  std::vector<Array> gradients;
  if (taped) {
    gradients.push_back(dx.array().reshape(x.shape()));
    for (const Block& block : own)
      gradients.push_back(block.dw.defined() ? block.dw.array()
                                             : Array::zeros(block.weight.shape(), block.weight.dtype()));
  }
  return report(record(kLoss, full({}, sum * share, x.dtype()).array(), inputs,
                       [gradients = std::move(gradients)](const Array& dy, Needs needs) -> Grads {
                         Grads result;
                         const double g = dy.item();
                         for (std::size_t i = 0; i < gradients.size(); ++i)
                           result.push_back(!needs[i] ? Gradient()
                                            : g == 1  ? Gradient(gradients[i])
                                                      : Gradient((Tensor(gradients[i]) * g).array()));
                         return result;
                       }));
}

}  // namespace gradus::distributed
