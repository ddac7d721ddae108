// The bf16 product by AMX, whose instruction multiplies a tile of A, 16 rows of 16 pairs, with one of B, 16
// pairs of 16 columns, and adds the result to a tile of C. Both operands are rounded as they are copied to
// stripes of tiles, A's 16 rows high and B's 16 columns wide; four tiles of C stay in registers while k
// passes. With few rows of A, under a B that is stored transposed, B takes the place of A, and C is made
// transposed: B's rows are then only rounded, not rearranged, and a weight stored in bf16 is read where it
// lies.

#include <immintrin.h>

#include <type_traits>

#include "gradus/ops/kernels/pairs_avx512bf16.h"

namespace gradus::kernels {
namespace {

constexpr I kSide = 16, kTile = kSide * kSide;  // rows, and pairs, of a tile
constexpr I kTileBytes = kTile * I{sizeof(Pair)}, kRowBytes = kSide * I{sizeof(Pair)};
constexpr I kRowsAtATime = 8 * kSide;      // of A, which are packed together,
constexpr I kRowsKept = 128 * kSide;       // and at most as many stay packed
constexpr I kColumnsAtATime = 32 * kSide;  // of B: 1 MiB, which stays in the second-level cache
constexpr I kAhead = 16 * kSide;           // along a row of A, for reading it early
constexpr I kLargeC = 256 * 1024;          // numbers in a C that would push the operands out of the caches
constexpr I kThinRows = 4 * kSide;         // of A, at most, for B to take its place

/// What the instructions know of their eight tiles: they are full ones.
struct alignas(64) Shapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr Shapes kShapes;

/// Tiles along k, in one stripe or several. All distances in bytes.
struct Stripes {
  const void* data;
  I stripe;                                 // from one to the next
  I row = kRowBytes, along_k = kTileBytes;  // from a tile's row, and from a tile, to the next

  const char* at(I i) const { return static_cast<const char*>(data) + i * stripe; }
};

/// g++ 12 does not know that tiles are read from memory and written to it.
void memory_barrier() { asm volatile("" ::: "memory"); }

// Blocks of C: one stripe of A times 1 to 4 of B, in registers 0, 1, 2, ...; or two times 1 or 2, in 0, 1 and
// 2, 3.

template <int rows, int columns>
void start_block() {
  _tile_zero(0);
  if constexpr (columns > 1) _tile_zero(1);
  if constexpr (columns > 2 || rows > 1) _tile_zero(2);
  if constexpr (columns > 3 || (rows > 1 && columns > 1)) _tile_zero(3);
}

template <int rows, int columns>
void add_to_block(I steps, const Stripes& a, const Stripes& b) {
  memory_barrier();
  for (I s = 0; s < steps; ++s) {
    const I at_a = s * a.along_k, at_b = s * b.along_k;
    _tile_loadd(4, a.at(0) + at_a, a.row);
    if constexpr (rows > 1) _tile_loadd(5, a.at(1) + at_a, a.row);
    _tile_loadd(6, b.at(0) + at_b, b.row);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (rows > 1) _tile_dpbf16ps(2, 5, 6);
    if constexpr (columns > 1) {
      _tile_loadd(7, b.at(1) + at_b, b.row);
      _tile_dpbf16ps(1, 4, 7);
      if constexpr (rows > 1) _tile_dpbf16ps(3, 5, 7);
    }
    if constexpr (columns > 2) {
      _tile_loadd(6, b.at(2) + at_b, b.row);
      _tile_dpbf16ps(2, 4, 6);
    }
    if constexpr (columns > 3) {
      _tile_loadd(7, b.at(3) + at_b, b.row);
      _tile_dpbf16ps(3, 4, 7);
    }
  }
}

/// Tiles, one after the other.
struct alignas(64) Sums {
  float tiles[4][kTile];
};

template <int rows, int columns>
void store_block(Sums& sums) {
  _tile_stored(0, sums.tiles[0], kRowBytes);
  if constexpr (columns > 1) _tile_stored(1, sums.tiles[1], kRowBytes);
  if constexpr (columns > 2 || rows > 1) _tile_stored(2, sums.tiles[2], kRowBytes);
  if constexpr (columns > 3 || (rows > 1 && columns > 1)) _tile_stored(3, sums.tiles[3], kRowBytes);
  memory_barrier();
}

void write_tile(const float* tile, I rows, I columns, const Output& out) {
  for (I i = 0; i < rows && i < kSide; ++i) out.write(_mm512_load_ps(tile + i * kSide), i, 0, first(columns));
}

/// A tile of C's transpose.
void write_turned(const float* tile, I rows, I columns, const Output& out) {
  __m512i x[16];
  for (I j = 0; j < kSide; ++j) x[j] = _mm512_load_si512(tile + j * kSide);
  transpose(x);
  for (I i = 0; i < rows && i < kSide; ++i) out.write(reinterpret_cast<__m512>(x[i]), i, 0, first(columns));
}

template <bool two_down, bool two_across>
void make_block(I steps, const Stripes& a, const Stripes& b, I rows, I columns, const Output& out) {
  constexpr int down = two_down ? 2 : 1, across = two_across ? 2 : 1;
  Sums sums;
  start_block<down, across>();
  add_to_block<down, across>(steps, a, b);
  store_block<down, across>(sums);
  for (int i = 0; i < down; ++i)
    for (int j = 0; j < across; ++j)
      write_tile(sums.tiles[2 * i + j], rows - i * kSide, columns - j * kSide, out.at(i * kSide, j * kSide));
}

/// `rows` rows of A into stripes. In a last one that is not full, more rows are left as they are.
template <class T>
void pack_rows(I k, I rows, const Operand<T>& a, I stripe, Pair* to) {
  if (!a.transposed) {
    for (I i = 0; i < rows; ++i)
      for (I p = 0; 2 * p < k; p += kSide) {
        const T* const from = a.data + i * a.ld + 2 * p;
        fetch(from + kAhead);
        fetch(from + kAhead + kSide);
        _mm512_store_si512(to + i / kSide * stripe + p * kSide + i % kSide * kSide,
                           pairs_of(from, k - 2 * p));
      }
  } else if constexpr (std::is_same_v<T, float>) {
    for (I p = 0; 2 * p < k; p += kSide)
      for (I i = 0; i < rows; i += kSide) {
        __m512i x[16];
        for (I q = 0; q < kSide; ++q) {
          const I row = 2 * (p + q);
          fetch(a.data + (row + 2 * kSide) * a.ld + i);
          fetch(a.data + (row + 2 * kSide + 1) * a.ld + i);
          x[q] = row < k ? pairs_across(a.data + row * a.ld + i, a.ld, row + 1 < k, first(rows - i))
                         : _mm512_setzero_si512();
        }
        transpose(x);
        for (I r = 0; r < kSide; ++r) _mm512_store_si512(to + i / kSide * stripe + (p + r) * kSide, x[r]);
      }
  }
}

/// `columns` columns of B into stripes.
template <class T>
void pack_columns(I k, I columns, const Operand<T>& b, I stripe, Pair* to) {
  const auto place = [=](I p, I j) { return to + j / kSide * stripe + p * kSide; };
  if (b.transposed)
    pack_columns(k, columns, b.data, b.ld, place);
  else if constexpr (std::is_same_v<T, float>)
    pack_across(k, columns, b.data, b.ld, place);
  for (I p = (k + 1) / 2; p % kSide != 0; ++p)
    for (I j = 0; j < columns; j += kSide) _mm512_store_si512(place(p, j), _mm512_setzero_si512());
}

/// How one product is cut.
struct Plan {
  explicit Plan(const Product<float>& x)
      : thin(x.m <= kThinRows && x.b.transposed),
        rows(smaller(x.m, x.n <= kColumnsAtATime ? kRowsAtATime : kRowsKept)),
        columns(smaller(x.n, kColumnsAtATime)),
        depth(smaller(x.k, kAmxDepth)) {}
  static I smaller(I a, I b) { return a < b ? a : b; }
  static I stripes(I n) { return (n + kSide - 1) / kSide; }
  I stripe() const { return (depth + 31) / 32 * kTile; }

  bool thin;
  I rows;  // of A that stay packed; all columns pass over them
  I columns, depth;
};

/// `rows` rows of C under some columns of B.
void make_blocks(I steps, I rows, I columns, const Pair* left, const Pair* right, I stripe,
                 const Output& out) {
  const I bytes = stripe * I{sizeof(Pair)};
  for (I r = 0; r < rows; r += 2 * kSide)
    for (I c = 0; c < columns; c += 2 * kSide) {
      const bool two_down = rows - r > kSide, two_across = columns - c > kSide;
      const auto make = two_down     ? two_across ? make_block<true, true> : make_block<true, false>
                            : two_across ? make_block<false, true>
                                     : make_block<false, false>;
      make(steps, {left + r / kSide * stripe, bytes}, {right + c / kSide * stripe, bytes}, rows - r,
           columns - c, out.at(r, c));
    }
}

template <class T>
void multiply_blocks(const Product<float>& x, const Operand<T>& b, const Plan& plan, Pair* left) {
  const I stripe = plan.stripe();
  Pair* const right = left + Plan::stripes(plan.rows) * stripe;
  const bool many_columns = x.n > plan.columns;
  const I rows = many_columns ? plan.rows : x.m;  // under B's packed columns
  for (I p = 0; p < x.k; p += plan.depth) {
    const I depth = Plan::smaller(x.k - p, plan.depth), steps = (depth + 31) / 32;
    Output out = Output::of(x, p, p + depth);
    out.around_caches = depth == x.k && x.m * x.n >= kLargeC;
    for (I i = 0; i < x.m; i += rows)
      for (I j = 0; j < x.n; j += plan.columns) {
        const I columns = Plan::smaller(x.n - j, plan.columns), end = Plan::smaller(x.m, i + rows);
        pack_columns(depth, columns, b.from(p, j), stripe, right);
        for (I r = i; r < end; r += kRowsAtATime) {
          const I some = Plan::smaller(end - r, kRowsAtATime);
          Pair* const packed = many_columns ? left + (r - i) / kSide * stripe : left;
          if (j == 0) pack_rows(depth, some, x.a.from(r, p), stripe, packed);
          make_blocks(steps, some, columns, packed, right, stripe, out.at(r, j));
        }
      }
  }
}

/// The sums of 16 rows of B^T, of which `there` are there, with the columns of A^T.
template <int stripes, class T>
void sum_turned(I k, I there, const Operand<T>& rows, const Stripes& columns, Pair* packed, Sums& sums) {
  start_block<1, stripes>();
  I done = 0;
  if constexpr (!std::is_same_v<T, float>)
    if (there == kSide) {
      done = k / 32 * 32;
      add_to_block<1, stripes>(done / 32, {rows.data, 0, rows.ld * I{sizeof(T)}, kRowBytes}, columns);
    }
  for (; done < k; done += 32) {  // tile after tile: packing one overlaps with multiplying the one before
    Pair* const tile = packed + done / 32 * kTile;
    pack_rows(Plan::smaller(k - done, 32), there, rows.from(0, done), 0, tile);
    add_to_block<1, stripes>(1, {tile, 0}, {columns.at(0) + done / 32 * kTileBytes, columns.stripe});
  }
  store_block<1, stripes>(sums);
}

template <class T>
void multiply_thin(const Product<float>& x, const Operand<T>& b, const Plan& plan, Pair* packed) {
  const I stripe = plan.stripe(), stripes = Plan::stripes(x.m);
  Pair* const columns = packed + stripe;
  const auto sum = stripes == 1   ? sum_turned<1, T>
                   : stripes == 2 ? sum_turned<2, T>
                   : stripes == 3 ? sum_turned<3, T>
                                  : sum_turned<4, T>;
  for (I p = 0; p < x.k; p += plan.depth) {
    const I depth = Plan::smaller(x.k - p, plan.depth);
    const Output out = Output::of(x, p, p + depth);
    pack_columns(depth, x.m, Operand<float>{x.a.data, x.a.ld, !x.a.transposed}.from(p, 0), stripe, columns);
    for (I j = 0; j < x.n; j += kSide) {
      const I there = Plan::smaller(x.n - j, kSide);
      Sums sums;
      sum(depth, there, {b.data + j * b.ld + p, b.ld}, {columns, stripe * I{sizeof(Pair)}}, packed, sums);
      for (I s = 0; s < stripes; ++s)
        write_turned(sums.tiles[s], x.m - s * kSide, there, out.at(s * kSide, j));
    }
  }
}

template <class T>
void multiply(const Product<float>& x, const Operand<T>& b, Pair* scratch) {
  const Plan plan(x);
  _tile_loadconfig(&kShapes);  // of this thread
  plan.thin ? multiply_thin(x, b, plan, scratch) : multiply_blocks(x, b, plan, scratch);
  _mm_sfence();     // what was written around the caches is there before other threads read it
  _tile_release();  // registers in use are saved whenever threads take turns on a core
}

}  // namespace

std::int64_t amx_scratch(const Product<float>& x) {
  const Plan plan(x);
  const I stripes =
      plan.thin ? 1 + Plan::stripes(x.m) : Plan::stripes(plan.rows) + Plan::stripes(plan.columns);
  return stripes * plan.stripe() * I{sizeof(Pair)};
}

void gemm_amx(const Product<float>& x, void* scratch) {
  Pair* const pairs = static_cast<Pair*>(scratch);
  x.weight ? multiply(x, Operand<BFloat16>{x.weight, x.b.ld, true}, pairs) : multiply(x, x.b, pairs);
}

}  // namespace gradus::kernels
