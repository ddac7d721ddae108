// Matrix products: which calls of kernels::multiply one product of arrays becomes.
//
// A product is cut into tiles of C; each tile is one call on one thread, run on the pool. The path a product
// takes (kernels/paths.h) depends on shapes, layouts and the CPU, never on the number of threads, so the
// result is the same for any. The summed axis is never cut, and our own kernel's results do not depend on the
// tile; OpenBLAS's tiles are cut the same for any number of threads.

#include <algorithm>
#include <limits>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/profile/watch.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/kernels/multiply.h"

namespace gradus::array {
namespace {

using I = std::int64_t;

constexpr I kTileWork = 2'000'000;         // multiplications and additions worth a separate tile
constexpr I kLargeTileWork = 400'000'000;  // and the most in a tile of a large product
constexpr I kTileSize = 128 * 128;         // elements of C in a tile of a large product, at least
constexpr I kFewTiles = 8, kMostTiles = 64, kTilesPerThread = 4;
constexpr I kChunkWork = 1'500'000;          // smaller products share a thread
constexpr I kWakeWork = 10'000'000;          // a product of more wakes sleeping threads at once
constexpr I kColumnUnit = 64, kRowUnit = 6;  // whole blocks of the kernel
// Instructions for bf16 multiply faster, and then packing and reading memory count as much: few, large tiles.
constexpr I kBf16TileSize = 1024 * 1024, kAmxTileSize = 4 * kBf16TileSize;
// AMX multiplies about so many times faster, but not thin products, bound by memory.
constexpr I kAmxSpeed = 8, kAmxThin = 64, kAmxRowUnit = 32;
// OpenBLAS rearranges A for every part of the columns and B for every part of the rows: few, large tiles.
constexpr I kBlasWork = 20'000'000, kBlasPairWork = 1'000'000'000;  // worth two tiles, and two more
constexpr I kBlasPairSize = 1024 * 1024, kMostBlasPairs = 8;  // elements of C in two, beyond the first four

/// What multiplies: instructions for f32; those for bf16, AVX512-BF16 or, not measured, BFMMLA; or AMX.
enum class Unit { f32, bf16, amx };

/// How C [m, n] is cut into tiles: parts of its rows, and of its columns.
struct Tiling {
  I down, across, row_unit = kRowUnit;
  I tiles() const { return down * across; }
};

I ceil_div(I a, I b) { return (a + b - 1) / b; }

/// Where part i of n begins, when whole units are shared out evenly.
I part_begin(I n, I parts, I unit, I i) { return i == parts ? n : ceil_div(n, unit) * i / parts * unit; }

/// At least `tiles` of them if there are that many units, in the shape with the least overhead besides the
/// multiplications: A is read, and if transposed rearranged, once for all columns of a tile; B is rearranged
/// once for all rows, which takes longer if it is transposed.
Tiling cut(I m, I n, I tiles, Unit unit, bool a_transposed, bool b_transposed) {
  const bool f32 = unit == Unit::f32;
  const double a_cost = f32 && a_transposed ? 4 : 1, b_cost = !f32 ? 1 : b_transposed ? 4 : 2;  // measured
  const I row_unit = unit == Unit::amx ? kAmxRowUnit : kRowUnit;
  Tiling best{1, 1, row_unit};
  double least = std::numeric_limits<double>::infinity();
  const I most_across = std::min(tiles, ceil_div(n, kColumnUnit));
  for (I across = 1; across <= most_across; ++across) {
    const I down = std::clamp<I>(ceil_div(tiles, across), 1, ceil_div(m, row_unit));
    if (across * down < tiles && across < most_across) continue;
    const double rows = static_cast<double>(m) / static_cast<double>(down),
                 columns = static_cast<double>(n) / static_cast<double>(across);
    const double cost = b_cost / rows + a_cost / columns;
    if (cost < least) least = cost, best = {down, across, row_unit};
  }
  return best;
}

/// A few for each thread; more for a large product. They stay wide enough to use what they read of A and B
/// many times.
I tiles_for(I m, I n, I work, Unit unit) {
  if (unit != Unit::f32) {
    const I size = unit == Unit::amx ? kAmxTileSize : kBf16TileSize, threads = num_threads(),
            enough = std::max<I>(1, m * n / size / threads) * threads;
    return std::clamp<I>(work / kTileWork, 1, std::min(enough, kMostTiles));
  }
  const I few = std::clamp<I>(kTilesPerThread * num_threads(), kFewTiles, kMostTiles);
  const I most = std::clamp(m * n / kTileSize, kFewTiles, kMostTiles);
  return std::clamp<I>(work / kTileWork, 1, std::clamp(work / kLargeTileWork, std::min(few, most), most));
}

/// The same for OpenBLAS, where a tile reads all it needs of A and B once more than the others; of two ways
/// that copy as much, the one with more parts of the rows was never slower. Tiles are two units wide and
/// high at least: of a single row or column OpenBLAS would make another kind of product.
Tiling cut_for_blas(I m, I n, I tiles) {
  const I most_down = std::max<I>(1, ceil_div(m, kRowUnit) / 2),
          most_across = std::max<I>(1, ceil_div(n, kColumnUnit) / 2);
  Tiling best{1, 1};
  I least = std::numeric_limits<I>::max();
  for (I down = 1; down <= std::min(tiles, most_down); ++down) {
    const I across = std::min(tiles / down, most_across);
    if (down * across < std::min(tiles, most_down * most_across) / 2 * 2) continue;
    if (const I copied = m * across + n * down; copied <= least) least = copied, best = {down, across};
  }
  return best;
}

/// An even number of tiles, as of cores; one where two would be small.
I blas_tiles_for(I m, I n, I work) {
  if (work < kBlasWork) return 1;
  const I most = std::clamp<I>(m * n / kBlasPairSize, 2, kMostBlasPairs);
  return 2 * std::clamp<I>(work / kBlasPairWork, 1, most);
}

/// What one product costs, in multiplications and additions. Thin ones are bound by memory: a row of zeros to
/// fill them up to 8 would come free.
I work_of(I m, I n, I k) {
  const double work = 2.0 * static_cast<double>(std::max<I>(m, 8)) * static_cast<double>(std::max<I>(n, 8)) *
                      static_cast<double>(std::max<I>(k, 1));
  return static_cast<I>(std::min(work, 1e15));
}

using kernels::Operand;
using kernels::Path;
using kernels::Product;

Unit unit_of(Path path) {
  if (path != Path::bf16 || !fast_bf16()) return Unit::f32;
  return bf16_backend_in_use() == Bf16Backend::amx ? Unit::amx : Unit::bf16;
}

/// The part of a product that makes one tile of C. Tiles next to each other mostly go to the same thread:
/// they share the rows of A or the columns of B, whichever is larger.
template <class T>
Product<T> tile_of(const Product<T>& whole, const Tiling& cut, I index) {
  const bool by_column = whole.n > whole.m;
  const I i = by_column ? index % cut.down : index / cut.across;
  const I j = by_column ? index / cut.down : index % cut.across;
  const I row = part_begin(whole.m, cut.down, cut.row_unit, i);
  const I column = part_begin(whole.n, cut.across, kColumnUnit, j);
  Product<T> part = whole;
  part.m = part_begin(whole.m, cut.down, cut.row_unit, i + 1) - row;
  part.n = part_begin(whole.n, cut.across, kColumnUnit, j + 1) - column;
  part.a = whole.a.from(row, 0);
  if (whole.weight)
    part.weight = whole.weight + column * whole.b.ld;
  else
    part.b = whole.b.from(0, column);
  part.c = whole.c + row * whole.ldc + column;
  part.d = whole.d + row * whole.ldd + column;
  if (whole.bias) part.bias = whole.bias + column;
  const I share = ceil_div(whole.ahead.bytes, cut.tiles());
  part.ahead.data += index * share;
  part.ahead.bytes = std::max<I>(0, std::min(share, whole.ahead.bytes - index * share));
  return part;
}

/// All tiles of product(0) .. product(count - 1) on the pool, `grain` at a time.
template <class F>
void run_tiles(I count, I grain, const Tiling& cut, Path path, Wake wake, F&& product) {
  const I tiles = cut.tiles();
  const auto run = [&](I begin, I end) {
    for (I i = begin; i < end; ++i) kernels::multiply(tile_of(product(i / tiles), cut, i % tiles), path);
  };
  parallel_for(count * tiles, grain, run, wake);
}

constexpr I kVectorWork = 65'536;                    // elements of a matrix that are worth a trip to the pool
constexpr I kVectorRows = 32, kVectorColumns = 512;  // of a tile, at least

/// Runs product(0) .. product(count - 1), of one shape with n 1 or few rows, on the pool: a matrix each, read
/// once.
template <class F>
void run_vector_products(I count, I m, I n, I k, Path path, F&& product) {
  const I length = n == 1 ? m : n, row = std::max<I>(1, k);
  // Rows of the matrix lie one after the other, so any number of them makes a tile; of its columns there must
  // be many side by side, as memory is read along the rows.
  const bool rows = n == 1 ? !product(0).a.transposed : product(0).b.transposed;
  const I least = rows ? kVectorRows : kVectorColumns, size = std::max(least, kVectorWork / row);
  const I parts = ceil_div(length, size);
  const Wake wake = length * row > 16 * kVectorWork / count ? Wake::at_once : Wake::if_long;
  run_tiles(count, kVectorWork * parts / (row * length), n == 1 ? Tiling{parts, 1} : Tiling{1, parts}, path,
            wake, product);
}

/// Runs product(0) .. product(count - 1), all of the same sizes, on the pool.
template <class F>
void run_products(I count, I m, I n, I k, F&& product) {
  if (count == 0 || m == 0 || n == 0) return;
  count_flops(2.0 * static_cast<double>(count) * static_cast<double>(m) * static_cast<double>(n) *
              static_cast<double>(k));
  const auto first = product(0);
  const Path path = kernels::path_of(first);
  if (path == Path::vector || path == Path::few_rows)
    return run_vector_products(count, m, n, k, path, product);
  const Unit unit = unit_of(path);
  const I work = work_of(m, n, k) / (unit == Unit::amx && std::min(m, n) > kAmxThin ? kAmxSpeed : 1),
          all_work = count > kMostTiles ? work : count * work;
  const Tiling tiling = path == Path::openblas
                            ? cut_for_blas(m, n, ceil_div(blas_tiles_for(m, n, all_work), count))
                            : cut(m, n, ceil_div(tiles_for(m, n, all_work, unit), count), unit,
                                  first.a.transposed, first.b.transposed);
  const Wake wake = work > kWakeWork / count ? Wake::at_once : Wake::if_long;
  run_tiles(count, kChunkWork * tiling.tiles() / work, tiling, path, wake, product);
}

/// How one of the last two axes of an array reads as a matrix for the kernel.
struct Layout {
  bool transposed;
  I ld;
};

/// The layout of the last two axes, or nothing when neither axis runs through memory without gaps.
std::optional<Layout> matrix_layout(const Array& x) {
  const int last = x.dim() - 1;
  const I rows = x.shape()[last - 1], columns = x.shape()[last];
  const I down = x.strides()[last - 1], along = x.strides()[last];
  if (columns <= 1 || along == 1) {  // a stride along an axis of size 1 is never used
    if (rows <= 1) return Layout{false, std::max<I>(1, columns)};
    if (down >= std::max<I>(1, columns)) return Layout{false, down};
  }
  if (rows <= 1 || down == 1) {
    if (columns <= 1) return Layout{true, std::max<I>(1, rows)};
    if (along >= std::max<I>(1, rows)) return Layout{true, along};
  }
  return std::nullopt;
}

/// x itself where the kernel can read its matrices, else a copy.
Array as_matrices(const Array& x) { return matrix_layout(x) ? x : x.clone(); }

/// The first matrix of x, which is as as_matrices made it.
template <class T>
Operand<T> operand(const Array& x) {
  const Layout layout = *matrix_layout(x);
  return {x.data<T>(), layout.ld, layout.transposed};
}

/// The shape without its last two axes.
Shape batch_shape(const Shape& shape) {
  Shape batch = shape;
  batch.erase(shape.size() - 1);
  batch.erase(shape.size() - 2);
  return batch;
}

/// Where each matrix of a batch starts when x is broadcast to `batch`.
class BatchOffsets {
 public:
  BatchOffsets(const Array& x, const Shape& batch) : batch_(batch) {
    strides_ = Dims::filled(batch.size(), 0);
    const int lead = batch.size() + 2 - x.dim();
    for (int i = lead; i < batch.size(); ++i)
      if (x.shape()[i - lead] != 1) strides_[i] = x.strides()[i - lead];
  }
  I operator[](I index) const {
    I offset = 0;
    for (int i = batch_.size() - 1; i >= 0; --i) {
      offset += index % batch_[i] * strides_[i];
      index /= batch_[i];
    }
    return offset;
  }

 private:
  Shape batch_;
  Strides strides_;
};

/// c = a b (+ bias) + beta c, or its ReLU, for a contiguous c; `ahead` is fetched meanwhile. All of them have
/// a layout.
template <class T>
void run_matmul(const Array& a, const Array& b, const T* bias, T beta, const Array& c, bool relu = false,
                ReadAhead ahead = {}) {
  const I m = a.size(-2), k = a.size(-1), n = b.size(-1);
  const Shape batch = batch_shape(c.shape());
  const BatchOffsets offset_a(a, batch), offset_b(b, batch);
  const Product<T> first{.m = m,
                         .n = n,
                         .k = k,
                         .a = operand<T>(a),
                         .b = operand<T>(b),
                         .c = c.mutable_data<T>(),
                         .ldc = std::max<I>(1, n),
                         .beta = beta,
                         .bias = bias,
                         .relu = relu,
                         .ahead = ahead,
                         .bf16 = in_bf16(a.dtype())};
  run_products(numel(batch), m, n, k, [&](I i) {
    Product<T> product = first;
    product.a.data += offset_a[i];
    product.b.data += offset_b[i];
    product.c += i * m * n;
    product.d = product.c;
    return product;
  });
}

/// c = x W^T (+ bias) for rows x [m, k] and a weight [n, k] in bf16, or its ReLU.
void run_weight(const Array& x, const Array& weight, const Array& bias, const Array& c, bool relu) {
  const Product<float> product{.m = x.size(0),
                               .n = weight.size(0),
                               .k = x.size(1),
                               .a = operand<float>(x),
                               .b = {nullptr, std::max<I>(1, weight.strides()[0]), true},
                               .c = c.mutable_data<float>(),
                               .ldc = std::max<I>(1, weight.size(0)),
                               .bias = bias.defined() ? bias.data<float>() : nullptr,
                               .relu = relu,
                               .bf16 = true,
                               .weight = weight.data<BFloat16>()};
  run_products(1, product.m, product.n, product.k, [&](I) { return product; });
}

/// Throws unless a's rows fit b's columns.
void check_inner(const Array& a, const Array& b) {
  check(a.dim() > 0 && b.dim() > 0, "matmul: expects at least one axis each, got a {} and b {}", a.shape(),
        b.shape());
  check_operands("matmul", a, b);
  const bool vector = b.dim() == 1;
  check(a.size(-1) == b.size(vector ? -1 : -2),
        "matmul: a {} and b {} do not match: a's last axis is {}, b's {} is {}", a.shape(), b.shape(),
        a.size(-1), vector ? "only axis" : "second-to-last", b.size(vector ? -1 : -2));
}

/// The shape of a b for operands of at least two axes.
Shape product_shape(const Array& a, const Array& b) {
  const Shape x = batch_shape(a.shape()), y = batch_shape(b.shape());
  for (int i = 1; i <= std::min(x.size(), y.size()); ++i) {
    const I p = x[x.size() - i], q = y[y.size() - i];
    check(p == q || p == 1 || q == 1,
          "matmul: a {} and b {} do not match: the batch axes {} and {} do not broadcast", a.shape(),
          b.shape(), x, y);
  }
  Shape shape = broadcast_shapes("matmul", x, y);
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  return shape;
}

/// a [..., M, K] as one matrix [... M, K] where its strides allow that without a copy.
std::optional<Array> fold_batch(const Array& a) {
  const I k = a.size(-1);
  if (k == 0) return std::nullopt;
  return a.try_view({a.numel() / k, k});
}

}  // namespace

Array matmul(const Array& a, const Array& b, const Array& bias, bool relu) {
  check_inner(a, b);
  if (a.dim() == 1) return matmul(a.unsqueeze(0), b, bias, relu).squeeze(b.dim() == 1 ? 0 : -2);
  if (b.dim() == 1) return matmul(a, b.unsqueeze(1), bias, relu).squeeze(-1);

  Array c = Array::empty(product_shape(a, b), a.dtype());
  dispatch_floating("matmul", a, [&]<class T>() {
    const Array row = bias.defined() ? bias.contiguous() : bias;
    const T* const bias_data = row.defined() ? row.data<T>() : nullptr;
    const std::optional<Array> folded = a.dim() > 2 && b.dim() == 2 ? fold_batch(a) : std::nullopt;
    if (folded) {
      const Array flat = *c.try_view({folded->size(0), b.size(1)});
      run_matmul<T>(as_matrices(*folded), as_matrices(b), bias_data, T{0}, flat, relu);
    } else {
      run_matmul<T>(as_matrices(a), as_matrices(b), bias_data, T{0}, c, relu);
    }
  });
  return c;
}

Array matmul_weight(const Array& x, const Array& weight, const Array& bias, bool relu) {
  const Array c = Array::empty({x.size(0), weight.size(0)}, f32);
  const bool rows = (weight.size(1) <= 1 || weight.strides()[1] == 1) &&
                    weight.strides()[0] >= std::max<I>(1, weight.size(1));
  run_weight(as_matrices(x), rows ? weight : weight.contiguous(), bias.defined() ? bias.contiguous() : bias,
             c, relu);
  return c;
}

void matmul_into(const Array& a, const Array& b, const Array& c, bool add, ReadAhead ahead) {
  dispatch_floating("matmul", a, [&]<class T>() {
    run_matmul<T>(as_matrices(a), as_matrices(b), nullptr, add ? T{1} : T{0}, c, false, ahead);
  });
}

}  // namespace gradus::array
