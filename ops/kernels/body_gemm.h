#pragma once
// Part of body.h. The matrix product C = alpha A B + beta D + bias, or its ReLU.
//
// The heart is a block of C, six rows by two or four vectors, that stays in registers while the sum runs over
// k: each step loads one row of B's panel and one value of A per row, and does rows x vectors
// multiply-additions. Everything around it is there to feed the heart from the nearest cache:
//
//   for 256 of k at a time                      a block's A and B then fit into the caches
//     for a few panels of B at a time           copied side by side, k by k, so that they are read in order
//       for 96 rows of A at a time              stay in the second-level cache while all panels pass
//         for each panel, for six rows          the heart
//
// Every element of C is one sum over k in the same order, wherever it lies and however the product was cut.

namespace gradus::kernels {
namespace {

constexpr I kDepth = 256;       // of k at a time
constexpr I kRowsAtATime = 96;  // rows of A that stay in cache
constexpr I kPanels = 4;        // panels of B packed at a time

/// Vectors of C in registers beside each other: with six rows and the operands they fill most registers.
template <class V>
constexpr int block_vectors = V::registers == 32 ? 4 : 2;

/// Rows of C in registers: enough sums at once to wait for none, and no more than there are registers.
template <int vectors>
constexpr int block_rows = vectors == 1 ? 12 : 6;

/// c = alpha sum over k of a b + beta d + bias for one block, or its ReLU.
template <class V>
struct BlockOutput {
  using T = ScalarOf<V>;
  T* c;
  I ldc;
  T alpha, beta;
  const T* d;  // read where beta is not 0
  I ldd;
  const T* bias;  // or null
  bool relu;

  template <class At>
  [[gnu::always_inline]] void write(V sum, I row, At at) const {
    V y = V(alpha) * sum;
    if (beta != 0) y = fma(V(beta), at.load(d + row * ldd), y);
    if (bias) y = y + at.load(bias);
    if (relu) y = gradus::kernels::relu(y);
    at.store(c + row * ldc, y);
  }
  BlockOutput at(I row, I column) const {
    BlockOutput moved = *this;
    moved.c += row * ldc + column;
    if (beta != 0) moved.d += row * ldd + column;
    if (bias) moved.bias += column;
    return moved;
  }
};

/// a is A's first row of the block, or with `transposed` its first column as stored.
template <class V, int rows, int vectors, bool transposed>
void block(I k, const ScalarOf<V>* a, I lda, const ScalarOf<V>* panel, I panel_ld, I last_width,
           const BlockOutput<V>& out) {
  V sums[rows][vectors];
  for (I p = 0; p < k; ++p) {
    V b[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) b[v] = V::load(panel + p * panel_ld + v * V::lanes);
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
      const V value = transposed ? a[p * lda + r] : a[r * lda + p];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] = fma(value, b[v], sums[r][v]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v + 1 < vectors; ++v) out.write(sums[r][v], r, Whole<V>{v * V::lanes});
    constexpr I last = (vectors - 1) * V::lanes;
    if (last_width == V::lanes)
      out.write(sums[r][vectors - 1], r, Whole<V>{last});
    else
      out.write(sums[r][vectors - 1], r, Tail<V>{last, last_width});
  }
}

/// The rows that are left when the others are done in whole blocks.
template <class V, int rows, int vectors, bool transposed, class... Arguments>
void last_block(I left, const Arguments&... arguments) {
  if constexpr (rows > 0) {
    if (left == rows) return block<V, rows, vectors, transposed>(arguments...);
    last_block<V, rows - 1, vectors, transposed>(left, arguments...);
  }
}

/// m rows of C under one panel of B.
template <class V, int vectors, bool transposed>
void rows_of_blocks(I m, I k, const ScalarOf<V>* a, I lda, const ScalarOf<V>* panel, I panel_ld, I last_width,
                    const BlockOutput<V>& out) {
  constexpr int rows = block_rows<vectors>;
  I i = 0;
  for (; i + rows <= m; i += rows)
    block<V, rows, vectors, transposed>(k, a + (transposed ? i : i * lda), lda, panel, panel_ld, last_width,
                                        out.at(i, 0));
  last_block<V, rows - 1, vectors, transposed>(m - i, k, a + (transposed ? i : i * lda), lda, panel, panel_ld,
                                               last_width, out.at(i, 0));
}

/// Up to `block_vectors` vectors of columns.
template <class V, int vectors, bool transposed, class... Arguments>
void under_panel(I wanted, const Arguments&... arguments) {
  if constexpr (vectors > 0) {
    if (wanted == vectors) return rows_of_blocks<V, vectors, transposed>(arguments...);
    under_panel<V, vectors - 1, transposed>(wanted, arguments...);
  }
}

/// One vector of columns of B, `width` of them real, k deep, to every `stride`-th place of out.
template <class V>
void pack_vector(I k, I width, const Operand<ScalarOf<V>>& b, ScalarOf<V>* out, I stride) {
  const ScalarOf<V>* x = b.data;
  if (!b.transposed) {
    for (I p = 0; p < k; ++p)
      (width == V::lanes ? V::load(x + p * b.ld) : V::load(x + p * b.ld, width)).store(out + p * stride);
    return;
  }
  I p = 0;
  if (width == V::lanes)
    for (constexpr I step = V::columns; p + step <= k; p += step) {
      V columns[step];
      V::load_columns(x + p, b.ld, columns);
      for (I i = 0; i < step; ++i) columns[i].store(out + (p + i) * stride);
    }
  for (; p < k; ++p)
    for (I j = 0; j < V::lanes; ++j) out[p * stride + j] = j < width ? x[j * b.ld + p] : ScalarOf<V>{0};
}

/// C += A B for a depth of at most kDepth and kPanels panels of columns.
template <class V, bool transposed>
void multiply_packed(I m, I n, I k, const Operand<ScalarOf<V>>& a, const Operand<ScalarOf<V>>& b,
                     const BlockOutput<V>& out) {
  constexpr I panel_width = block_vectors<V> * V::lanes;
  alignas(64) ScalarOf<V> panels[kPanels * panel_width * kDepth];
  const auto vectors = [=](I j) {
    const I left = (n - j + V::lanes - 1) / V::lanes;
    return left < block_vectors<V> ? left : I{block_vectors<V>};
  };
  // Rows that are whole vectors are read where they lie.
  const bool packed = b.transposed || n % V::lanes != 0;
  if (packed)
    for (I j = 0; j < n; j += panel_width)
      for (I v = 0, count = vectors(j); v < count; ++v) {
        const I column = j + v * V::lanes, left = n - column;
        pack_vector<V>(k, left < V::lanes ? left : V::lanes, b.from(0, column),
                       panels + j * kDepth + v * V::lanes, count * V::lanes);
      }
  for (I i = 0; i < m; i += kRowsAtATime) {
    const I rows = m - i < kRowsAtATime ? m - i : kRowsAtATime;
    for (I j = 0; j < n; j += panel_width) {
      const I count = vectors(j), left = n - j - (count - 1) * V::lanes;
      under_panel<V, block_vectors<V>, transposed>(
          count, rows, k, a.from(i, 0).data, a.ld, packed ? panels + j * kDepth : b.from(0, j).data,
          packed ? count * V::lanes : b.ld, left < V::lanes ? left : V::lanes, out.at(i, j));
    }
  }
}

/// The definition, as a reference: what Vec's one-lane form runs.
template <class T>
void gemm_by_definition(const Product<T>& x) {
  for (I i = 0; i < x.m; ++i)
    for (I j = 0; j < x.n; ++j) {
      T sum = 0;
      for (I p = 0; p < x.k; ++p) sum += *x.a.from(i, p).data * *x.b.from(p, j).data;
      T y = x.alpha * sum;
      if (x.beta != 0) y += x.beta * x.d[i * x.ldd + j];
      if (x.bias) y += x.bias[j];
      x.c[i * x.ldc + j] = x.relu && y < 0 ? T{0} : y;
    }
}

/// What the sum starts from is taken in with its first part; ReLU comes after the last.
template <class V>
void gemm_by_blocks(const Product<ScalarOf<V>>& x) {
  constexpr I columns = kPanels * block_vectors<V> * V::lanes;
  BlockOutput<V> out{x.c, x.ldc, x.alpha, x.beta, x.d, x.ldd, x.bias, false};
  const auto run = x.a.transposed ? multiply_packed<V, true> : multiply_packed<V, false>;
  for (I p = 0; p < x.k; p += kDepth) {
    const I depth = x.k - p < kDepth ? x.k - p : kDepth;
    out.relu = x.relu && p + depth == x.k;
    for (I j = 0; j < x.n; j += columns)
      run(x.m, x.n - j < columns ? x.n - j : columns, depth, x.a.from(0, p), x.b.from(p, j), out.at(0, j));
    out = {x.c, x.ldc, x.alpha, 1, x.c, x.ldc, nullptr, false};
  }
}

template <class V>
void gemm(const Product<ScalarOf<V>>& x) {
  if constexpr (V::lanes == 1)
    gemm_by_definition(x);
  else
    gemm_by_blocks<V>(x);
}

}  // namespace
}  // namespace gradus::kernels
