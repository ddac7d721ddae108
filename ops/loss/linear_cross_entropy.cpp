// linear_cross_entropy: the head of a language model and its loss in one op.
//   x, dx: [..., C]   weight W, dW: [V, C]   bias, dbias: [V]   target: [...]   loss: []
//   loss = cross_entropy(x W^T + bias, target)
//
// All logits, [..., V], would be the largest array of a step, and are not needed. So the rows are processed
// in chunks that reuse the same memory:
//   z     = x W^T + bias                     logits of some rows
//   dz    = gradient of the loss, in place of z, by the formulas above cross_entropy.cpp
//   dx    = dz W,   dW += dz^T x,   dbias += sum of dz over rows
// Forward does all of it when a gradient is wanted: while z is there, dz costs little, and nothing is
// computed twice. That works because the loss is a scalar: its gradient only scales known results.
//   saves dx, dW and dbias for dloss = 1; backward multiplies them by dloss, unless that is 1. Also saves
//   x, W, bias and target, for second derivatives alone; so x, as large as dx, stays in memory until
//   backward. Second derivatives compute the logits again, all at once, in several arrays [..., V]

#include "gradus/core/profile/profile.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/rows.h"
#include "gradus/ops/detail/linear_checks.h"
#include "gradus/ops/kernels/multiply.h"
#include "gradus/ops/loss/cross_entropy_checks.h"
#include "gradus/ops/loss/cross_entropy_rows.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using I = std::int64_t;

constexpr const char* kOp = "linear_cross_entropy";

// Bytes of a chunk's logits. A further chunk reads W twice, and reads and writes dW, once more; with fewer
// than kFewestRows that would cost more than the products themselves. (64 MiB, all 256 rows of 50,257 classes
// at once, is 4% faster for a step of gpt2-124m.)
constexpr I kChunkBytes = I{32} << 20, kFewestRows = 64;
// Pieces of V in dz W.
constexpr I kFewestClasses = 4096, kMostPieces = 8;

/// Rows of a chunk: the fewest chunks that stay within the limit, of equal size.
I chunk_rows(I rows, I row_bytes) {
  const I most = std::max(kFewestRows, kChunkBytes / std::max<I>(1, row_bytes));
  const I chunks = (rows - 1) / most + 1;
  return (rows - 1) / chunks + 1;
}

/// Gradients for dloss = 1; undefined where none is wanted.
struct Gradients {
  Array dx, dw, dbias;
  bool any() const { return dx.defined() || dw.defined() || dbias.defined(); }
};

/// Memory for the gradients that are wanted: zeros where no row will be written.
Gradients allocate(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool rows = x.numel() > 0;
  const auto like = [rows](const Tensor& p) {
    if (!grad_enabled() || !p.requires_grad()) return Array();
    return rows ? Array::empty(p.shape(), p.dtype()) : Array::zeros(p.shape(), p.dtype());
  };
  return {like(x), like(weight), like(bias)};
}

/// Losses of the rows from `first` on, whose logits are z [n, V]; z becomes dz when `gradients` is set.
template <class T>
void pass_rows(const Array& z, I first, const Targets& targets, bool gradients, T* losses) {
  const Rows rows(z.shape());
  const RowPointers<T> pz(z);
  const T g = static_cast<T>(targets.share());
  rows.for_each([&](I i) {
    const I row = first + i;
    if (targets.ignored(row)) {
      if (gradients) std::fill_n(pz[i], rows.columns, T{0});
      return;
    }
    T total;
    const T largest = kernels::table<T>().max(rows.columns, pz[i]);
    losses[row] = row_loss(targets.row<T>(row), rows.columns, pz[i], largest, pz[i], total);
    if (gradients) row_grad(targets.row<T>(row), rows.columns, total, g, pz[i]);
  });
}

/// dx = dz W for the n rows of a chunk. The longest axis by far is V, which is summed over: cut into a few
/// pieces of fixed size, whose products are added in order, it keeps the threads busy with large matrices.
template <class T>
void multiply_by_weight(const Array& dz, const Array& w, const Array& dx) {
  const I n = dz.size(0), v = w.size(0), c = w.size(1);
  const I step = std::max(kFewestClasses, (v + kMostPieces - 1) / kMostPieces);
  if (v <= step) return array::matmul_into(dz, w, dx, false);
  const T *const pdz = dz.data<T>(), *const pw = w.data<T>();
  const Array parts = Array::empty({(v - 1) / step + 1, n, c}, dz.dtype());
  T* const pparts = parts.mutable_data<T>();
  count_flops(2.0 * static_cast<double>(n) * static_cast<double>(v) * static_cast<double>(c));
  const bool rounds = array::in_bf16(dz.dtype());
  const auto multiply_piece = [&](I begin, I end) {
    kernels::Product<T> product{
        n, c, end - begin, {pdz + begin, v}, {pw + begin * c, c}, pparts + begin / step * n * c, c};
    product.bf16 = rounds;
    kernels::multiply(product);
  };
  parallel_for(v, step, multiply_piece, Wake::at_once);
  dx.copy_(array::sum(parts, 0));
}

/// Adds dz's contribution to each gradient, for the chunk starting at row `first`; the first chunk writes.
template <class T>
void add_gradients(const Array& dz, I first, const Array& x, const Array& w, const Gradients& to) {
  const I n = dz.size(0);
  if (to.dx.defined()) multiply_by_weight<T>(dz, w, to.dx.reshape(x.shape()).slice(0, first, first + n));
  if (to.dw.defined()) array::matmul_into(dz.transpose(0, 1), x.slice(0, first, first + n), to.dw, first > 0);
  if (to.dbias.defined()) {
    const Array sum = array::sum(dz, 0);
    first > 0 ? to.dbias.add_(sum) : to.dbias.copy_(sum);
  }
}

/// Losses of all rows; x is [rows, C], x and w contiguous.
Array run(const Array& x, const Array& w, const Array& bias, const Targets& targets, const Gradients& to) {
  const I rows = x.size(0);
  const Array losses = Array::zeros({rows}, x.dtype());
  if (rows == 0) return losses;
  const I step = chunk_rows(rows, w.size(0) * static_cast<I>(size_of(x.dtype())));
  dispatch_floating(kOp, x, [&]<class T>() {
    for (I first = 0; first < rows; first += step) {
      const Array z = array::matmul(x.slice(0, first, std::min(rows, first + step)), w.transpose(0, 1), bias);
      pass_rows<T>(z, first, targets, to.any(), losses.mutable_data<T>());
      add_gradients<T>(z, first, x, w, to);
    }
  });
  return losses;
}

/// The gradients as a formula.
std::vector<Tensor> derivative(const Tensor& dy, const Saved& x, const Saved& w, const Saved& bias,
                               const Targets& targets, const Taped& of) {
  const Tensor from = of.in(0, x), weight = of.in(1, w);
  const Tensor z = linear(from, weight, bias->defined() ? of.in(2, bias) : Tensor());
  const I rows = Rows(z.shape()).count, classes = weight.size(0), channels = weight.size(1);
  const Tensor dz = grad_of_logits(dy, z, targets).reshape({rows, classes});
  return {of[0] ? matmul(dz, weight).reshape(x->shape()) : Tensor(),
          of[1] ? matmul(dz.t(), from.reshape({rows, channels})) : Tensor(), of[2] ? dz.sum(0) : Tensor()};
}

}  // namespace

Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& target,
                            const CrossEntropyOptions& options, const Tensor& bias) {
  check_linear(kOp, x, weight, bias);
  check(!is_half(weight.dtype()),
        "{}: expects a weight of f32 or f64, got {} {}: use cross_entropy(linear(x, weight), target), for a "
        "model "
        "cross_entropy(model(ids), targets)",
        kOp, weight.dtype(), weight.shape());
  check(options.reduction != Reduction::none,
        "{}: expects reduction mean or sum, got none: use cross_entropy(linear(x, weight), target)", kOp);
  Shape logits = x.shape();
  logits[x.dim() - 1] = weight.size(0);
  check_loss(kOp, "logits x weight^T", logits, x.dtype(), target, options);
  const Targets targets(kOp, "logits x weight^T", logits, target, options);

  const Gradients to = allocate(x, weight, bias);
  const Array rows = x.array().contiguous().reshape({target.numel(), weight.size(1)});
  const Array losses = run(rows, weight.array().contiguous(), bias.array(), targets, to);
  return record(kOp, targets.reduce(losses), {&x, &weight, &bias},
                [dx = Saved(to.dx), dw = Saved(to.dw), dbias = Saved(to.dbias), x = Saved(x.array()),
                 w = Saved(weight.array()), b = Saved(bias.array()),
                 targets]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>) {
                    return derivative(dy, x, w, b, targets, of);
                  } else {
                    const auto scaled = [g = dy.item()](const Saved& d, bool needed) {
                      if (!needed) return Array();
                      return g == 1 ? *d : array::mul(*d, g);
                    };
                    return {scaled(dx, of[0]), scaled(dw, of[1]), scaled(dbias, of[2])};
                  }
                });
}

}  // namespace gradus
