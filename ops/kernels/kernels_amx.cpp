// The bf16 product by AMX, whose instruction multiplies a tile of A, 16 rows of 16 pairs, with one of B, 16
// pairs of 16 columns, and adds the result to a tile of C. Both operands are rounded as they are copied to
// stripes of tiles, A's 16 rows high and B's 16 columns wide; four tiles of C stay in registers while k
// passes. While tiles are multiplied, the core packs the next rows of A and writes the four tiles of C that
// it has just finished: both take about as long as the product. With few rows of A, under a B that is stored
// transposed, B takes the place of A, and C is made transposed: B's rows are then only rounded, not
// rearranged, and full tiles of a weight stored in bf16 are read where they lie.

#include "gradus/ops/kernels/packing_amx.h"

namespace gradus::kernels {
namespace {

constexpr I kRowsKept = 128 * kSide;       // of A, which stay packed while all columns of B pass
constexpr I kColumnsAtATime = 32 * kSide;  // of B: 1 MiB, which stays in the second-level cache
constexpr I kStepsNear = 16;        // along k, for which 32 rows of A, 32 KiB, stay in the first-level cache,
constexpr I kBNear = 512;           // unless B pushes them out: more columns than this, times steps
constexpr I kAhead = 16 * kSide;    // along a row of thin products, to read it early
constexpr I kLargeC = 256 * 1024;   // numbers in a C that would push the operands out of the caches,
constexpr I kFarC = 64 * 1024;      // and in one that is read early, as it may not be in them
constexpr I kThinRows = 4 * kSide;  // of A, at most, for B to take its place

/// A tile of C's transpose.
void write_turned(const float* tile, I rows, I columns, const Output& out) {
  __m512i x[16];
  for (I j = 0; j < kSide; ++j) x[j] = _mm512_load_si512(tile + j * kSide);
  transpose(x);
  for (I i = 0; i < rows && i < kSide; ++i) out.write(reinterpret_cast<__m512>(x[i]), i, 0, first(columns));
}

/// A block of sums, which is written to C while the next one is made. Loading tiles that were just stored
/// would take long.
struct Finished {
  Sums sums;
  I i = 0, j = 0;  // where in C
  I rows = 0, columns = 0, written = 0, fetched = 0;

  /// Gets n rows of C into the cache, for write().
  void fetch(I n, const Output& out) {
    for (; n > 0 && fetched < rows; --n, ++fetched)
      for (I c = 0; c < 2 * kSide; c += kSide) fetch_to_write(out.c + (i + fetched) * out.ldc + j + c);
  }

  void write(I n, const Output& out) {
    for (; n > 0 && written < rows; --n, ++written) {
      const float* const from = sums.tiles[written / kSide * 2] + written % kSide * kSide;
      out.write(_mm512_load_ps(from), i + written, j, first(columns));
      if (columns > kSide)
        out.write(_mm512_load_ps(from + kTile), i + written, j + kSide, first(columns - kSide));
    }
  }
};

/// `past_cache`: B's tiles are not to take A's place in the first-level cache.
template <bool two_down, bool two_across, class Meanwhile>
void make_block(I steps, bool past_cache, const Stripes& a, const Stripes& b, Sums& sums,
                const Meanwhile& meanwhile) {
  constexpr int down = two_down ? 2 : 1, across = two_across ? 2 : 1;
  start_block<down, across>();
  past_cache ? add_to_block<down, across, true>(steps, a, b, meanwhile)
             : add_to_block<down, across, false>(steps, a, b, meanwhile);
  store_block<down, across>(sums);
}

/// How one product is cut.
struct Plan {
  explicit Plan(const Product<float>& x)
      : thin(x.m <= kThinRows && x.b.transposed),
        together(x.a.transposed ? kRowsAcross : kRowsAtATime),
        rows(smaller(x.m, x.n <= kColumnsAtATime ? 2 * together : kRowsKept)),
        columns(smaller(x.n, kColumnsAtATime)),
        depth(smaller(x.k, kAmxDepth)) {}
  static I smaller(I a, I b) { return a < b ? a : b; }
  static I stripes(I n) { return (n + kSide - 1) / kSide; }
  I stripe() const { return (depth + 31) / 32 * kTile; }

  bool thin;
  I together;  // rows of A that are packed in one go
  I rows;      // of A that stay packed; all columns pass over them
  I columns, depth;
};

/// Makes blocks of C, and with each writes the one before.
class Blocks {
 public:
  Blocks(const Output& where, bool c_is_far) : out(where), far(c_is_far && !where.around_caches) {}

  /// Rows i to i + 32 of C, or fewer, in some columns.
  void make(I steps, I i, I rows, I j, I columns, const Pair* left, const Pair* right, I stripe,
            RowPacking& packing) {
    const I bytes = stripe * I{sizeof(Pair)};
    const bool past_cache = steps <= kStepsNear && steps * columns > kBNear;
    const I written = (2 * kSide + steps - 1) / steps;  // rows a step, so that all are done at the end
    const I packed = (4 * kSide * kSide + columns - 1) / columns;  // as much of A as is multiplied
    for (I c = 0; c < columns; c += 2 * kSide) {
      Finished &before = blocks[turn], &now = blocks[1 - turn];
      now.i = i, now.j = j + c, now.rows = rows, now.columns = columns - c, now.written = now.fetched = 0;
      const auto meanwhile = [&] {
        before.write(written, out);
        if (far) now.fetch(written, out);
        packing.some(packed);
      };
      const bool two_down = rows > kSide, two_across = columns - c > kSide;
      const auto block = two_down     ? two_across ? make_block<true, true, decltype(meanwhile)>
                                                   : make_block<true, false, decltype(meanwhile)>
                             : two_across ? make_block<false, true, decltype(meanwhile)>
                                      : make_block<false, false, decltype(meanwhile)>;
      block(steps, past_cache, {left, bytes}, {right + c / kSide * stripe, bytes}, now.sums, meanwhile);
      turn = 1 - turn;
    }
  }
  void finish() { blocks[turn].write(2 * kSide, out); }

 private:
  Finished blocks[2];
  int turn = 0;
  const Output& out;
  bool far;
};

template <class T>
void multiply_blocks(const Product<float>& x, const Operand<T>& b, const Plan& plan, Pair* left) {
  alignas(64) Pair lines[kSide * kRowsAcross];
  const I stripe = plan.stripe(), together = plan.together;
  Pair* const right = left + Plan::stripes(plan.rows) * stripe;
  const I pass = x.n > plan.columns ? plan.rows : x.m;  // rows under B's packed columns
  for (I p = 0; p < x.k; p += plan.depth) {
    const I depth = Plan::smaller(x.k - p, plan.depth), steps = (depth + 31) / 32;
    Output out = Output::of(x, p, p + depth);
    out.around_caches = depth == x.k && x.m * x.n >= kLargeC;
    Blocks blocks(out, x.m * x.n >= kFarC);
    RowPacking packing{depth, x.a, stripe, lines};
    for (I first_row = 0; first_row < x.m; first_row += pass) {
      const I end = Plan::smaller(x.m, first_row + pass);
      const auto place = [&](I i) { return left + (i - first_row) % plan.rows / kSide * stripe; };
      const auto pack = [&](I i) {
        if (i < end) packing.start(x.a.from(i, p).data, Plan::smaller(end - i, together), place(i));
      };
      for (I j = 0; j < x.n; j += plan.columns) {
        const I columns = Plan::smaller(x.n - j, plan.columns);
        pack_columns(depth, columns, b.from(p, j), stripe, right);
        if (j == 0) pack(first_row), packing.rest();
        for (I i = first_row; i < end; i += together) {
          if (j == 0) pack(i + together);
          for (I r = i; r < end && r < i + together; r += kRowsAtATime)
            blocks.make(steps, r, Plan::smaller(end - r, kRowsAtATime), j, columns, place(r), right, stripe,
                        packing);
          packing.rest();
        }
      }
    }
    blocks.finish();
  }
}

/// The sums of 16 rows of B^T, of which `there` are there, with the columns of A^T.
template <int stripes, class T>
void sum_turned(I k, I there, const Operand<T>& rows, const Stripes& columns, Pair* packed, Sums& sums) {
  const auto nothing = [] {};
  start_block<1, stripes>();
  I done = 0;
  if constexpr (!std::is_same_v<T, float>)
    if (there == kSide) {
      done = k / 32 * 32;
      add_to_block<1, stripes, false>(done / 32, {rows.data, 0, rows.ld * I{sizeof(T)}, kRowBytes}, columns,
                                      nothing);
    }
  for (; done < k; done += 32) {  // tile after tile: packing one overlaps with multiplying the one before
    Pair* const tile = packed + done / 32 * kTile;
    for (I i = 0; i < there; ++i) {
      const T* const from = rows.data + i * rows.ld + done;
      fetch(from + kAhead);
      fetch(from + kAhead + kSide);
      _mm512_store_si512(tile + i * kSide, pairs_of(from, k - done));
    }
    add_to_block<1, stripes, false>(1, {tile, 0}, {columns.at(0) + done / 32 * kTileBytes, columns.stripe},
                                    nothing);
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
