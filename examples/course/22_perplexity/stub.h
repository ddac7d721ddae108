#include "learn/learn.h"

// Perplexity, bits per byte, and windows. About 16 lines.
//
//   perplexity      What is the perplexity of all tokens of these batches? The batches may have different
//                   sizes, their rows different lengths, and a batch may be padding alone.
//
//   bits_per_byte   A text has the tokens ids [N]; token t is vocabulary[ids[t]], in UTF-8, and costs loss[t]
//                   nats. How many bits does a byte of the text cost?
//
//   windows         Which windows does a model of at most `size` tokens read, to score a text of N tokens?
//                   Window k begins at token k stride, with stride <= size. Each token is scored once, where
//                   it sees the most tokens before it. No window is read in vain.
//
//   struct Batch { Tensor logits, target; };              [B, T, V], [B, T]; a target of -100 is padding
//   struct Window { std::int64_t begin, end, first; };    reads begin .. end - 1, scores first .. end - 1
//   given in examples/course/22_perplexity/given.h
//
// Forbidden: nn. Useful: cross_entropy(logits, target, {.reduction = Reduction::sum}), which leaves out -100,
// ids.to_vector<std::int64_t>(), std::string::size().

double perplexity(const std::vector<Batch>& batches) { return todo(batches); }

double bits_per_byte(const Tensor& loss, const Tensor& ids, const std::vector<std::string>& vocabulary) {
  return todo(loss, ids, vocabulary);
}

std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t stride) {
  return todo(N, size, stride);
}
