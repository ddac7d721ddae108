#include "gradus/distributed/model_parallel/vocab_parallel.h"

#include <bit>
#include <cmath>
#include <string>

#include "gradus/core/check.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/record.h"
#include "gradus/distributed/detail/digests.h"
#include "gradus/distributed/detail/tree.h"
#include "gradus/nn/module/init.h"

namespace gradus::distributed {

using I = std::int64_t;

VocabParallelWeight::VocabParallelWeight(const char* kind, const Communicator& world, I vocab, I dim,
                                         const VocabParallelOptions& options)
    : Module(kind), world_(world), vocab_(vocab), dim_(dim), count_(options.blocks) {
  detail::expect_power_of_two(kind, world.size());
  check(vocab >= 1 && dim >= 1, "{}: expects a vocabulary and channels of 1 or more, got [{}, {}]", kind,
        vocab, dim);
  check(count_ >= 1 && count_ < 1 << 24 && std::has_single_bit(static_cast<unsigned>(count_)),
        "{}: expects blocks of 1, 2, 4, 8, ..., got {}", kind, count_);
  check(count_ >= world.size(),
        "{}: {} ranks need at least {} blocks, got {}: set .blocks, on which the result depends", kind,
        world.size(), world.size(), count_);
  check(vocab >= count_, "{}: {} blocks need a vocabulary of at least {}, got {}: set .blocks to fewer", kind,
        count_, count_, vocab);
  const std::uint64_t seed = default_generator().next();
  world.expect_same(std::string(kind) + "'s sizes and random numbers",
                    "vocabulary " + std::to_string(vocab) + ", channels " + std::to_string(dim) +
                        ", blocks " + std::to_string(count_) + ", seed " + std::to_string(seed));
  const int own = count_ / world.size();
  first_ = world.rank() * own;
  const nn::Module list = add("weight", nn::Module("List"));
  for (int b = first_; b < first_ + own; ++b) {
    Generator generator(seed, static_cast<std::uint64_t>(b));  // of its own: the same for any number of ranks
    const Tensor values = nn::init::normal_(empty({first_row(b + 1) - first_row(b), dim}), 0, 1, generator);
    blocks.push_back(list.parameter(std::to_string(b), values));
  }
}

VocabParallelWeight::VocabParallelWeight(const char* kind, const VocabParallelWeight& shared)
    : Module(kind),
      world_(shared.world_),
      vocab_(shared.vocab_),
      dim_(shared.dim_),
      count_(shared.count_),
      first_(shared.first_) {
  const nn::Module list = add("weight", nn::Module("List"));
  for (std::size_t i = 0; i < shared.blocks.size(); ++i)
    blocks.push_back(list.parameter(std::to_string(first_ + static_cast<int>(i)), shared.blocks[i]));
}

Tensor VocabParallelWeight::gather() const {
  const NoGrad no_grad;
  const Tensor whole = zeros({vocab_, dim_}, blocks[0].dtype());
  for (std::size_t i = 0; i < blocks.size(); ++i) whole.slice(0, begin(i), begin(i + 1)).copy_(blocks[i]);
  const int own = count_ / world_.size();
  for (int rank = 0; rank < world_.size(); ++rank)
    world_.broadcast(whole.slice(0, first_row(rank * own), first_row((rank + 1) * own)), rank);
  return whole;
}

void VocabParallelWeight::load(const Tensor& weight) const {
  check(weight.defined() && weight.shape() == Shape{vocab_, dim_}, "{}: expects a weight [{}, {}], got {}",
        kind(), vocab_, dim_, weight.defined() ? to_string(weight.shape()) : "an undefined tensor");
  const NoGrad no_grad;
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].copy_(weight.slice(0, begin(i), begin(i + 1)));
}

VocabParallelEmbedding::VocabParallelEmbedding(const Communicator& world, I vocab, I dim,
                                               const VocabParallelOptions& options)
    : VocabParallelWeight("VocabParallelEmbedding", world, vocab, dim, options) {}

// Each rank looks up the ids of its blocks; the rows of other ranks are 0. The sum over the ranks is exact:
// each row is that of one rank, and zeros. All ranks compute the same with it, so each has the whole
// gradient, of which its blocks take their ids.
Tensor VocabParallelEmbedding::operator()(const Tensor& ids) const {
  const Scope scope(path());
  check(
      ids.defined() && ids.dtype() == i64, "VocabParallelEmbedding: expects ids of i64, got {}",
      ids.defined() ? std::string(name(ids.dtype())) + " " + to_string(ids.shape()) : "an undefined tensor");
  if (world_.size() > 1)
    world_.expect_same("VocabParallelEmbedding's ids (shape, dtype, checksum)",
                       detail::digest("ids", ids.detach()));
  const std::vector<I> all = ids.to_vector<I>();
  std::vector<std::vector<I>> of_block(blocks.size());  // the ids in each of this rank's blocks
  std::vector<std::vector<std::size_t>> places(blocks.size());
  for (std::size_t j = 0; j < all.size(); ++j) {
    check(all[j] >= 0 && all[j] < vocab_,
          "VocabParallelEmbedding: id {} at {} is out of range for a vocabulary of {}", all[j], j, vocab_);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (all[j] >= begin(i) && all[j] < begin(i + 1)) {
        of_block[i].push_back(all[j] - begin(i));
        places[i].push_back(j);
      }
  }
  std::vector<Tensor> rows{zeros({1, dim_}, blocks[0].dtype())};  // row 0: for all other ids
  std::vector<I> row_of(all.size(), 0);
  I next = 1;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (places[i].empty()) continue;
    rows.push_back(embedding(from_vector(of_block[i]), blocks[i]));
    for (const std::size_t j : places[i]) row_of[j] = next++;
  }
  Shape shape = ids.shape();
  shape.push_back(dim_);
  if (all.empty()) return report(zeros(shape, blocks[0].dtype()));
  const Tensor own = embedding(from_vector(row_of).reshape(ids.shape()), cat(rows, 0));
  Tensor sum;
  {
    const NoGrad no_grad;
    sum = own + 0.0;  // a copy, in which -0 is 0, as it is after a sum over several ranks
    world_.all_reduce(sum);
  }
  return report(record("vocab_parallel_embedding", sum.array(), {&own},
                       []<class V>(const V& dy, auto) -> GradsOf<V> { return {dy}; }));
}

VocabParallelHead::VocabParallelHead(const Communicator& world, I dim, I vocab,
                                     const VocabParallelOptions& options)
    : VocabParallelWeight("VocabParallelHead", world, vocab, dim, options) {
  const double bound = 1 / std::sqrt(static_cast<double>(dim));
  const std::uint64_t seed = default_generator().next();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Generator generator(seed, static_cast<std::uint64_t>(first_) + i);
    nn::init::uniform_(blocks[i], -bound, bound, generator);
  }
}

VocabParallelHead::VocabParallelHead(const VocabParallelEmbedding& tied)
    : VocabParallelWeight("VocabParallelHead", tied) {}

}  // namespace gradus::distributed
