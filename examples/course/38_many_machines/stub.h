#include "learn/learn.h"

// An all-reduce whose bits do not depend on the number of ranks, and the loss of a batch. About 30 lines.
//
// A batch is cut into shards, and their gradients are added in one binary tree, ((s0 + s1) + (s2 + s3)) + ...
// A rank has consecutive shards. Which part of the tree is its own, and with whom must it exchange what at
// each level, so that 1, 2, 4 and 8 ranks give the same bits? All numbers of shards and ranks are powers
// of 2.
//
// all_reduce gives every rank the sum over all ranks, of every element. On n ranks, a rank may send
// 2 (n - 1) / n times its elements, and no more (if n divides their number; else as if zeros filled it up).
// Which part of its array does a rank no longer need to add, once another rank does?
//
// mean_loss is the mean over all tokens of the batch, of all ranks. Its bits do not depend on their number. A
// shard may have no tokens.
//
//   rank.rank(), rank.size()     this rank, from 0, and their number
//   rank.send(to, list)          sends a std::vector<float>, and does not wait
//   rank.receive(from)           the next list from that rank; waits for it
//   struct Part { float loss, tokens; };      all in examples/course/38_many_machines/given.h
//
// Forbidden: Tensor, which is not needed here.

/// Returns the sum of shard(0) .. shard(count - 1), lists of one length, in the tree. Calls each once.
std::vector<float> sum_of_shards(int count, const std::function<std::vector<float>(int)>& shard) {
  return todo(count, shard);
}

/// Returns the sum of all ranks' x, lists of one length, on every rank.
std::vector<float> all_reduce(Rank& rank, const std::vector<float>& x) { return todo(rank, x); }

/// parts: the shards of this rank. Returns the loss of the batch on every rank.
float mean_loss(Rank& rank, const std::vector<Part>& parts) { return todo(rank, parts); }
