#pragma once
// Part of body.h. The matrix product C = alpha A B + beta D + bias, or its ReLU.
//
// The heart is a block of C, six rows by two or four vectors, that stays in registers while the sum runs over
// k: each step loads one row of B's panel and one value of A per row, and does rows x vectors
// multiply-additions. Everything around it is there to feed the heart from the nearest cache:
//
//   for 512 of k at a time                      a block's A and B then fit into the caches
//     for a few panels of B at a time           copied side by side, k by k, so that they are read in order
//       for 48 rows of A at a time              stay in the second-level cache while all panels pass
//         for each panel, for six rows          the heart
//
// B is copied where it is transposed, where its columns are no whole vectors, or where many rows of A use the
// copy. A is read where it lies, unless it is transposed: then its rows, of which a block wants a few numbers
// each, are copied to panels as well, if many columns of B use the copy.
//
// Every element of C is one sum over k in the same order, wherever it lies and however the product was cut:
// its row of A, its column of B and what is added to it decide its bits, not m, n or its tile.

namespace gradus::kernels {
namespace {

constexpr I kDepth = 512;                // of k at a time
constexpr I kRowsAtATime = 48;           // rows of A that stay in cache
constexpr I kRowsToPackFor = 320;        // with fewer rows of A a copy of B's rows costs more than it saves
constexpr I kRowsToPackCrowdedFor = 48;  // the same where B's rows crowd each other out of the caches
constexpr I kColumnsToPackFor = 128;     // the same for a copy of A's columns
constexpr I kPackedRows = 12;            // of A^T side by side in a panel
constexpr I kDepthToFetchFor = 256;      // a shorter sum ends before the C that is fetched for it is there
constexpr I kRowsAhead = 16;             // fetched while rows of B are copied
constexpr int kSecondCache = 2;          // __builtin_prefetch: into the second-level cache

/// Vectors of C side by side in registers: with six rows and the operands they fill most registers.
template <class V>
constexpr int block_vectors = V::registers == 32 ? 4 : 2;

/// Of B packed at a time: it stays in the second-level cache too, of 1 MiB or more where there is AVX-512. It
/// lies on the stack, which macOS gives its threads 512 KiB of.
#ifdef __APPLE__
template <class V>
constexpr I panel_bytes = 128 * 1024;
#else
template <class V>
constexpr I panel_bytes = (V::lanes * I{sizeof(ScalarOf<V>)} == 64 ? 512 : 256) * 1024;
#endif

/// Columns of one panel of B, and of all panels packed at a time.
template <class V>
constexpr I panel_width = I{block_vectors<V>} * V::lanes;
template <class V>
constexpr I packed_columns = panel_bytes<V> / (kDepth * I{sizeof(ScalarOf<V>)});

/// Rows of C in registers: enough sums at once to wait for none, and no more than there are registers.
template <int vectors>
constexpr int block_rows = vectors == 1 ? 12 : 6;

/// What a product fetches while it computes (read_ahead.h): `step` bytes with each step of a block's sum.
/// That costs nothing there, with one prefetch per 24 multiplications; many at once would hold up
/// the block's own loads.
struct Fetch {
  const char* next;
  I step;
};

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
  Fetch* fetch;

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
  constexpr bool fetches = vectors == block_vectors<V>;  // a narrow block has no load to spare
  const Fetch fetch = *out.fetch;
  if (fetches) out.fetch->next += k * fetch.step;
  if (k >= kDepthToFetchFor)
    for (I r = 0; r < rows; ++r)
      for (I v = 0; v < vectors; ++v) __builtin_prefetch(out.c + r * out.ldc + v * V::lanes, 1);
  V sums[rows][vectors];
  for (I p = 0; p < k; ++p) {
    if (fetches && fetch.step > 0) __builtin_prefetch(fetch.next + p * fetch.step, 0, kSecondCache);
    V b[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) b[v] = V::load(panel + p * panel_ld + v * V::lanes);
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
      const V value = transposed ? a[p * lda + r] : a[r * lda + p];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] = madd(value, b[v], sums[r][v]);
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

/// m rows of C under one panel of B. Panels of A^T lie `a_panel` apart.
template <class V, int vectors, bool transposed>
void rows_of_blocks(I m, I k, const ScalarOf<V>* a, I lda, I a_panel, const ScalarOf<V>* panel, I panel_ld,
                    I last_width, const BlockOutput<V>& out) {
  constexpr int rows = block_rows<vectors>;
  static_assert(kPackedRows % rows == 0);
  const auto row = [=](I i) {
    return a + (transposed ? i / kPackedRows * a_panel + i % kPackedRows : i * lda);
  };
  I i = 0;
  for (; i + rows <= m; i += rows)
    block<V, rows, vectors, transposed>(k, row(i), lda, panel, panel_ld, last_width, out.at(i, 0));
  last_block<V, rows - 1, vectors, transposed>(m - i, k, row(i), lda, panel, panel_ld, last_width,
                                               out.at(i, 0));
}

/// Up to `block_vectors` vectors of columns.
template <class V, int vectors, bool transposed, class... Arguments>
void under_panel(I wanted, const Arguments&... arguments) {
  if constexpr (vectors > 0) {
    if (wanted == vectors) return rows_of_blocks<V, vectors, transposed>(arguments...);
    under_panel<V, vectors - 1, transposed>(wanted, arguments...);
  }
}

/// Where column j's panel holds it, in row 0.
template <class V>
ScalarOf<V>* in_panels(ScalarOf<V>* panels, I j) {
  constexpr I width = panel_width<V>;
  return panels + j / width * (width * kDepth) + j % width;
}

/// B [k, n], rows ld apart, into panels.
template <class V>
void pack_rows(I k, I n, const ScalarOf<V>* b, I ld, ScalarOf<V>* panels) {
  for (I p = 0; p < k; ++p)
    for (I j = 0; j < n; j += V::lanes) {
      const ScalarOf<V>* const from = b + p * ld + j;
      __builtin_prefetch(from + kRowsAhead * ld);
      const V x = n - j >= V::lanes ? V::load(from) : V::load(from, n - j);
      x.store(in_panels<V>(panels, j) + p * panel_width<V>);
    }
}

/// The same for B^T [n, k].
template <class V>
void pack_columns(I k, I n, const ScalarOf<V>* b, I ld, ScalarOf<V>* panels) {
  constexpr I step = V::columns, line = 64 / I{sizeof(ScalarOf<V>)};
  for (I j = 0; j < n; j += V::lanes) {
    const ScalarOf<V>* const from = b + j * ld;
    ScalarOf<V>* const to = in_panels<V>(panels, j);
    I p = 0;
    if (n - j >= V::lanes)
      for (; p + step <= k; p += step) {
        if (p % line == 0)
          for (I i = 0; i < V::lanes; ++i) __builtin_prefetch(from + (V::lanes + i) * ld + p);
        V columns[step];
        V::load_columns(from + p, ld, columns);
        for (I i = 0; i < step; ++i) columns[i].store(to + (p + i) * panel_width<V>);
      }
    for (; p < k; ++p)
      for (I i = 0; i < V::lanes; ++i)
        to[p * panel_width<V> + i] = j + i < n ? from[i * ld + p] : ScalarOf<V>{0};
  }
}

/// A^T [k, rows], ld apart, into panels of kPackedRows of its columns.
template <class T>
void pack_a(I k, I rows, const T* a, I ld, T* panels) {
  constexpr I width = kPackedRows;
  for (I p = 0; p < k; ++p, a += ld) {
    I i = 0;
    for (; i + width <= rows; i += width)
      for (I r = 0; r < width; ++r) panels[i * kDepth + p * width + r] = a[i + r];
    for (I r = 0; i + r < rows; ++r) panels[i * kDepth + p * width + r] = a[i + r];
  }
}

/// C += A B for a depth of at most kDepth and packed_columns columns.
template <class V, bool transposed>
void gemm_packed(I m, I n, I k, const Operand<ScalarOf<V>>& a, const Operand<ScalarOf<V>>& b,
                 const BlockOutput<V>& out) {
  constexpr I width = panel_width<V>;
  alignas(64) ScalarOf<V> panels[packed_columns<V> * kDepth];
  alignas(64) ScalarOf<V> packed_a[transposed ? kRowsAtATime * kDepth : 1];
  const bool packed =
      b.transposed || n % V::lanes != 0 || m >= (b.crowded() ? kRowsToPackCrowdedFor : kRowsToPackFor);
  if (packed) (b.transposed ? pack_columns<V> : pack_rows<V>)(k, n, b.data, b.ld, panels);
  for (I i = 0; i < m; i += kRowsAtATime) {
    const I rows = m - i < kRowsAtATime ? m - i : kRowsAtATime;
    Operand<ScalarOf<V>> some_a = a.from(i, 0);
    I a_panel = kPackedRows;
    if (transposed && n >= kColumnsToPackFor) {
      pack_a(k, rows, some_a.data, some_a.ld, packed_a);
      some_a = {packed_a, kPackedRows, true};
      a_panel = kPackedRows * kDepth;
    }
    for (I j = 0; j < n; j += width) {
      const I columns = n - j < width ? n - j : width;
      const I vectors = (columns + V::lanes - 1) / V::lanes;
      under_panel<V, block_vectors<V>, transposed>(vectors, rows, k, some_a.data, some_a.ld, a_panel,
                                                   packed ? in_panels<V>(panels, j) : b.from(0, j).data,
                                                   packed ? width : b.ld, columns - (vectors - 1) * V::lanes,
                                                   out.at(i, j));
    }
  }
}

/// rows x columns elements of C from (i, j) on by definition: each is one sum over k, in order. Side by side
/// the sums do not wait for each other.
template <class T, I rows, I columns>
void define(const Product<T>& x, I i, I j) {
  const I row_of_a = x.a.transposed ? 1 : x.a.ld, next_a = x.a.transposed ? x.a.ld : 1;
  const I column_of_b = x.b.transposed ? x.b.ld : 1, next_b = x.b.transposed ? 1 : x.b.ld;
  const T *a = x.a.from(i, 0).data, *b = x.b.from(0, j).data;
  T sums[rows][columns] = {};
  for (I p = 0; p < x.k; ++p, a += next_a, b += next_b)
#pragma GCC unroll 4
    for (I r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (I c = 0; c < columns; ++c) sums[r][c] += a[r * row_of_a] * b[c * column_of_b];
  for (I r = 0; r < rows; ++r)
    for (I c = 0; c < columns; ++c) {
      T y = x.alpha * sums[r][c];
      if (x.beta != 0) y += x.beta * x.d[(i + r) * x.ldd + j + c];
      if (x.bias) y += x.bias[j + c];
      x.c[(i + r) * x.ldc + j + c] = x.relu && y < 0 ? T{0} : y;
    }
}

/// As a reference: what Vec's one-lane form runs.
template <class T>
void gemm_by_definition(const Product<T>& x) {
  constexpr I side = 4;
  for (I i = 0; i < x.m; i += side)
    for (I j = 0; j < x.n; j += side) {
      if (i + side <= x.m && j + side <= x.n) {
        define<T, side, side>(x, i, j);
        continue;
      }
      for (I r = i; r < x.m && r < i + side; ++r)
        for (I c = j; c < x.n && c < j + side; ++c) define<T, 1, 1>(x, r, c);
    }
}

/// x.ahead spread evenly over the steps of all blocks; without one, the same place again and again.
template <class V>
Fetch fetch_with(const Product<ScalarOf<V>>& x) {
  if (x.ahead.bytes == 0) return {reinterpret_cast<const char*>(x.c), 0};
  constexpr I line = 64, rows = block_rows<block_vectors<V>>;
  const I steps = ((x.m + rows - 1) / rows) * ((x.n + panel_width<V> - 1) / panel_width<V>)*x.k;
  const I step = (x.ahead.bytes + steps - 1) / steps;
  return {x.ahead.data, step < line ? step : line};
}

/// What the sum starts from is taken in with its first part; ReLU comes after the last.
template <class V>
void gemm_by_blocks(const Product<ScalarOf<V>>& x) {
  constexpr I columns = packed_columns<V>;
  Fetch fetch = fetch_with<V>(x);
  BlockOutput<V> out{x.c, x.ldc, x.alpha, x.beta, x.d, x.ldd, x.bias, false, &fetch};
  const auto run = x.a.transposed ? gemm_packed<V, true> : gemm_packed<V, false>;
  for (I p = 0; p < x.k; p += kDepth) {
    const I depth = x.k - p < kDepth ? x.k - p : kDepth;
    out.relu = x.relu && p + depth == x.k;
    for (I j = 0; j < x.n; j += columns)
      run(x.m, x.n - j < columns ? x.n - j : columns, depth, x.a.from(0, p), x.b.from(p, j), out.at(0, j));
    out = {x.c, x.ldc, x.alpha, 1, x.c, x.ldc, nullptr, false, &fetch};
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
