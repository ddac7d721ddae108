#pragma once
// An embedding and a head whose vocabulary is divided among the ranks (Shoeybi et al. 2019, "Megatron-LM",
// arXiv 1909.08053, section 3).
//
//   const distributed::VocabParallelEmbedding tokens(world, 50'257, 768);
//   const distributed::VocabParallelHead head(tokens);  // tied
//   head.loss(body(tokens(ids)), next).backward();
//   distributed::clip_grad_norm(world, net.named_parameters(), 1.0);
//
// The vocabulary is cut into a fixed number of blocks of rows, each a parameter of its own ("weight.3"),
// which one rank has: with 8 blocks, rank 2 of 4 has blocks 4 and 5, and their gradients and optimizer state.
// The rest of the model, the batch and dropout's numbers are the same on all ranks, each of which computes
// them. Products are of one block, and sums over blocks are made in one binary tree: the bits are the same
// for any number of ranks. docs/many_machines.md explains it.

#include <cstdint>
#include <vector>

#include "gradus/distributed/communicator.h"
#include "gradus/nn/module/module.h"
#include "gradus/ops/ops.h"

namespace gradus::distributed {

struct VocabParallelOptions {
  /// Into how many blocks the vocabulary is cut: a power of two, at least the number of ranks. Results depend
  /// on it, not on the ranks.
  int blocks = 8;
};

/// What embedding and head have in common: a weight [V, C], of which each rank has some blocks of rows.
struct VocabParallelWeight : nn::Module {
  /// The whole weight [V, C], on every rank. Collective.
  Tensor gather() const;
  /// Copies this rank's rows out of the whole weight [V, C]: `tokens.load(gpt.token_embedding.weight);`
  void load(const Tensor& weight) const;

  std::int64_t vocab() const { return vocab_; }  // V
  std::int64_t dim() const { return dim_; }      // C
  /// This rank's blocks, from the lowest on: block b of B is rows ceil(b V / B) .. ceil((b + 1) V / B) - 1.
  std::vector<nn::Parameter> blocks;

 protected:
  VocabParallelWeight(const char* kind, const Communicator& world, std::int64_t vocab, std::int64_t dim,
                      const VocabParallelOptions& options);
  VocabParallelWeight(const char* kind, const VocabParallelWeight& shared);
  std::int64_t first_row(int block) const { return (block * vocab_ + count_ - 1) / count_; }
  /// The first row of this rank's block number i, and of the one after it.
  std::int64_t begin(std::size_t i) const { return first_row(first_ + static_cast<int>(i)); }

  Communicator world_;
  std::int64_t vocab_, dim_;
  int count_, first_;  // blocks of all ranks; this rank's first
};

/// nn::Embedding with its rows on several ranks: ids [...] (i64, 0 .. V - 1), the same on all ranks -> [...,
/// C], on all ranks. Starts as N(0, 1), with the same values for any number of ranks. Throws unless the
/// number of ranks and of blocks are powers of two and there are at least as many blocks as ranks and ids as
/// blocks. Every call is collective, and throws a CommonError unless all ranks pass the same ids.
/// `distributed::VocabParallelEmbedding tokens(world, 50'257, 768);`
struct VocabParallelEmbedding : VocabParallelWeight {
  VocabParallelEmbedding(const Communicator& world, std::int64_t vocab, std::int64_t dim,
                         const VocabParallelOptions& options = {});
  Tensor operator()(const Tensor& ids) const;
};

/// The head of a language model with its loss, without bias. A rank computes the logits of its own
/// blocks, of so many rows at a time that a block's have 32 MiB (64 rows at least).
struct VocabParallelHead : VocabParallelWeight {
  /// Starts like nn::Linear; throws like VocabParallelEmbedding.
  VocabParallelHead(const Communicator& world, std::int64_t dim, std::int64_t vocab,
                    const VocabParallelOptions& options = {});
  /// Shares the embedding's weight, which both then train.
  explicit VocabParallelHead(const VocabParallelEmbedding& tied);

  /// linear_cross_entropy(x, weight, target, options): x [..., C] and target [...] (i64), the same on all
  /// ranks, to a loss [], the same on all ranks. The largest logit, the sum of exponentials and the target's
  /// logit of each block are gathered; forward also computes the gradients. It takes reduction mean or sum
  /// and ignore_index, and has no second derivatives. Collective; throws a CommonError unless x, target and
  /// options are the same on all ranks. `head.loss(body(tokens(ids)),
  /// next).backward();`
  Tensor loss(const Tensor& x, const Tensor& target, const CrossEntropyOptions& options = {}) const;
};

}  // namespace gradus::distributed
