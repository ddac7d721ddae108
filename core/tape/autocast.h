#pragma once
// Mixed precision: matrix products of f32 tensors in bf16, everything else in f32.

#include "gradus/core/dtype.h"

namespace gradus {

namespace detail {
/// What products of f32 round their operands to on this thread: bf16, or f32 for not at all.
inline constinit thread_local DType products = DType::f32;
}  // namespace detail

/// What products of f32 tensors are computed in on this thread: bf16 within an Autocast, else f32.
inline DType product_dtype() { return detail::products; }

/// Computes the products of f32 tensors in bf16 for one scope: their operands are rounded to bf16, their sums
/// and results are f32. All tensors stay f32, parameters and gradients too; so do all other ops
/// (kAutocastOps). A backward pass computes each op's products as its forward pass did, inside the scope or
/// after it. f64 tensors are not affected. `Autocast guard(f32);` turns it off within a scope. For the
/// calling thread: another thread needs its own. `Tensor loss; { Autocast guard(bf16); loss =
/// cross_entropy(model(x), y); } loss.backward();`
class Autocast {
 public:
  /// Throws for dtypes other than bf16 and f32.
  [[nodiscard("give it a name: it works until the end of its scope")]] explicit Autocast(DType products);
  ~Autocast() { detail::products = before_; }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  DType before_;
};

/// One row of the table of what Autocast changes.
struct AutocastOp {
  const char* op;        // as explain() and profiles name it
  const char* products;  // those with operands in bf16; their gradients are such products, too
};

/// Every op that Autocast changes, the ones made of them aside (einsum, convolutions, recurrent layers,
/// attention of modules). All others compute in f32: norms, softmax, losses, reductions, sums of biases,
/// elementwise functions, embeddings, optimizers.
inline constexpr AutocastOp kAutocastOps[] = {
    {"matmul", "a b"},
    {"linear", "x W^T; the bias is added in f32"},
    {"scaled_dot_product_attention", "q k^T and P v; the softmax is f32"},
    {"self_attention_packed", "the same"},
    {"attention_weights", "q k^T"},
    {"linear_cross_entropy", "x W^T; the loss is f32"}};

}  // namespace gradus
