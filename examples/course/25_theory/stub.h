#include "learn/learn.h"

// Lemma 2 and Theorem 1 (Xiong et al. 2020), measured and judged. About 20 lines.
//
// `measure` runs x [n, d] through Pre-LN or Post-LN blocks, each attention, then FFN (chapter 24). LN is
// layer_norm without gain and bias. `sizes` are, for each block, |x|^2 / d, the mean over the tokens, of the
// x whose size Lemma 2 bounds. Where in the block is that in Pre-LN, and where in Post-LN? `gradient` is
// |dL/dW2| of the last block, the norm of a matrix, for the loss L of what leaves the stack. Measured a
// second time, the same stack gives the same number.
//
// `lemma_2` judges Pre-LN's sizes, of block 1, block 2 and so on, each a mean over many seeds: are all of
// them within the lemma's two bounds? The input has the size 1. How much does a block add at least, and at
// most?
//
// `exponent` finds p in the law y = c L^p from measured points (L_i, y_i), with c unknown. Fit by least
// squares in the logarithms of L and y; all points count the same.
//
//   struct Block { Tensor V, O, W1, W2; ... };  block.attention(x), block.ffn(x); W2 requires grad
//   using Loss = std::function<Tensor(const Tensor& y)>;
//   struct Measured { std::vector<double> sizes; double gradient; };
//   given in examples/course/25_theory/given.h
//
// Forbidden: nn. Useful: grad(loss, {w})[0], norm, from_vector(L).log().

Measured measure(const std::vector<Block>& blocks, const Tensor& x, bool pre, const Loss& loss) {
  return todo(blocks, x, pre, loss);
}

bool lemma_2(const std::vector<double>& sizes) { return todo(sizes); }

/// Returns p.
double exponent(const std::vector<double>& L, const std::vector<double>& y) { return todo(L, y); }
