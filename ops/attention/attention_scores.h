#pragma once
// The scores of a tile of query rows of one head, for attention_forward.cpp and attention_backward.cpp.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "gradus/core/threads/parallel.h"
#include "gradus/ops/attention/attention_kernel.h"
#include "gradus/ops/kernels/kernels.h"
#include "gradus/ops/kernels/multiply.h"

namespace gradus::attention {

using I = std::int64_t;

constexpr I kTileRows = 64;
constexpr I kTileKeys = 512;  // at most at a time: scores and their gradients fill 256 KiB and stay in cache
constexpr I kBlockStep = 16;  // blocks of keys and rows of scores begin at multiples of it: the widest vector
constexpr I kChunkWork = 500'000;    // multiplications and additions worth a chunk of their own
constexpr I kWakeWork = 10'000'000;  // more wakes sleeping threads at once

/// How the query rows of a head are cut into tiles.
struct Cut {
  I tiles, rows, keys;

  /// Tiles of equal size. On its diagonal a causal head uses only half of a tile: short ones are cut smaller.
  Cut(const Rule& rule, I queries, I all_keys) {
    const I most = rule.causal && queries <= 2 * kTileRows ? kTileRows / 2 : kTileRows;
    tiles = (queries + most - 1) / most;
    rows = tiles > 0 ? (queries + tiles - 1) / tiles : 1;
    keys = all_keys;
    if (rule.window > 0 && rule.window < all_keys)
      keys = std::min(all_keys, rows + (rule.causal ? 1 : 2) * rule.window);
  }

  /// What the products of one tile cost in forward; backward has two and a half times as many.
  I work(const Array& k, const Array& v) const {
    return std::max<I>(1, 2 * rows * keys * (k.size(3) + v.size(3)));
  }
  Wake wake(I heads, I work) const {
    return heads * tiles > kWakeWork / work ? Wake::at_once : Wake::if_long;
  }
};

/// One head's rows of an array [B, H, T, D], or with segments [1, H, N, D]; heads are numbered through the
/// batch.
template <class T>
class HeadRows {
 public:
  /// Rows for `heads` heads of queries, which share those of x where it has fewer.
  HeadRows(const Array& x, I heads, const Segments& texts = {})
      : texts_(texts ? texts.begins.data() : nullptr), heads_(heads) {
    if (!x.defined()) return;
    data_ = x.mutable_data<std::remove_const_t<T>>();
    if (x.size(1) > 0) sharing_ = heads / x.size(1);
    batch_stride_ = x.strides()[0];
    head_stride_ = x.strides()[1];
    ld_ = x.size(2) > 1 ? x.strides()[2] : std::max<I>(1, x.size(3));
  }
  T* row(I head, I i) const {
    const I batch = texts_ ? texts_[head / heads_] * ld_ : head / heads_ * batch_stride_;
    return data_ + batch + head % heads_ / sharing_ * head_stride_ + i * ld_;
  }
  I ld() const { return ld_; }
  /// Rows i and after as a matrix of a product.
  kernels::Operand<std::remove_const_t<T>> from(I head, I i) const { return {row(head, i), ld_}; }
  kernels::Operand<std::remove_const_t<T>> transposed(I head, I i) const { return {row(head, i), ld_, true}; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  T* data_ = nullptr;
  const I* texts_;
  I heads_, sharing_ = 1, batch_stride_ = 0, head_stride_ = 0, ld_ = 1;
};

/// Query rows begin .. begin + rows - 1 of one head, against keys first .. first + keys - 1: no row of the
/// tile sees any other.
struct Tile {
  I head, begin, rows, first, keys;
};

/// Some of a tile's keys: first .. first + keys - 1; whether they are the tile's first.
struct Block {
  I head, begin, rows, first, keys;
  bool starts;
};

/// How many blocks a tile's keys are cut into; one where there are no keys.
inline I block_count(I keys) { return std::max<I>(1, (keys + kTileKeys - 1) / kTileKeys); }

/// The first key of block i of n, from the tile's first. The blocks are of equal size but for kBlockStep: a
/// short last one could hold too little of a row's weight for backward to correct its delta
/// (attention_backward.cpp).
inline I block_begin(I keys, I i, I n) {
  return std::min(keys, (i * keys + n * kBlockStep - 1) / (n * kBlockStep) * kBlockStep);
}

/// How far apart rows of scores lie: the keys of the largest block, its first, and what completes the last
/// vector. With the next row there, its first numbers could only be read once the end of this one is in
/// cache.
inline I block_stride(I keys) {
  return std::max<I>(1, (block_begin(keys, 1, block_count(keys)) + kBlockStep - 1) / kBlockStep) * kBlockStep;
}
/// The same for whatever tile there is.
inline I block_stride(const Cut& cut) { return block_stride(std::min(cut.keys, kTileKeys)); }

/// f(block) for the blocks of the tile's keys in order: the same in forward and backward, so that scores have
/// the same bits.
template <class F>
void for_each_block(const Tile& tile, F f) {
  const I n = block_count(tile.keys);
  for (I i = 0; i < n; ++i) {
    const I begin = block_begin(tile.keys, i, n);
    f(Block{tile.head, tile.begin, tile.rows, tile.first + begin, block_begin(tile.keys, i + 1, n) - begin,
            i == 0});
  }
}

template <class T>
class Scores {
 public:
  Scores(const Rule& rule, const Array& q, const Array& k)
      : rule_(rule),
        cut_(rule, rule.queries(q), rule.keys(k)),
        q_(q, q.size(1), rule.texts.queries),
        k_(k, q.size(1), rule.texts.keys),
        queries_(rule.queries(q)),
        keys_(rule.keys(k)),
        channels_(q.size(3)),
        mask_heads_(q.size(1)) {}

  const Cut& cut() const { return cut_; }
  I queries(I head) const {
    return rule_.texts.queries ? rule_.texts.queries.size(head / mask_heads_) : queries_;
  }
  I keys(I head) const { return rule_.texts.keys ? rule_.texts.keys.size(head / mask_heads_) : keys_; }

  /// Without rows (0 or fewer) past the end of a text.
  Tile tile(I head, I index) const {
    const I begin = index * cut_.rows, rows = std::min(cut_.rows, queries(head) - begin);
    const I first = std::min(keys(head), seen(rule_, begin, queries_, keys_).begin);
    const I end = std::min(keys(head), seen(rule_, begin + rows - 1, queries_, keys_).end);
    return {head, begin, rows, first, std::max<I>(0, end - first)};
  }

  /// s [rows, keys] = scale q k^T + mask, row stride ld.
  void compute(const Block& block, T* s, I ld) const {
    kernels::multiply<T>({.m = block.rows,
                          .n = block.keys,
                          .k = channels_,
                          .a = q_.from(block.head, block.begin),
                          .b = k_.transposed(block.head, block.first),
                          .c = s,
                          .ldc = ld,
                          .alpha = static_cast<T>(rule_.scale),
                          .bf16 = rule_.bf16});
    if (!rule_.slopes.empty())
      for (I r = 0; r < block.rows; ++r) add_distances(block, r, s + r * ld);
    if (rule_.mask.defined())
      for (I r = 0; r < block.rows; ++r) mask_row(block, r, s + r * ld);
    if (rule_.window > 0)
      for (I r = 0; r < block.rows; ++r) hide_before(block, r, s + r * ld);
  }

  /// The block's scores, or what else lies as they do, with what each row sees.
  kernels::ScoreRows<T> rows(const Block& block, T* s, I ld) const {
    const I at = block.begin + keys_ - queries_ - block.first;  // of the first row's position
    if (rule_.causal) return {block.rows, block.keys, s, ld, at + 1, 1};
    if (rule_.window > 0)
      return {block.rows, block.keys, s, ld, at + std::min(rule_.window, keys_ + queries_), 1};
    return {block.rows, block.keys, s, ld, block.keys, 0};
  }

  /// Drops weights (or gradients of weights); where a row sees nothing there are zeros.
  void drop(const Block& block, const T* x, T* y, I ld) const {
    const auto& random = rule_.random;
    for (I r = 0; r < block.rows; ++r) {
      const I place = (block.head * queries_ + block.begin + r) * keys_ + block.first;
      kernels_.dropout(block.keys, rule_.dropout, random.seed, random.stream, random.offset,
                       static_cast<std::uint64_t>(place), x + r * ld, y + r * ld);
    }
  }

 private:
  /// ALiBi's minus slope |distance|.
  void add_distances(const Block& block, I r, T* s) const {
    const auto slope = static_cast<T>(rule_.slopes[static_cast<std::size_t>(block.head % mask_heads_)]);
    const I at = block.begin + r + keys_ - queries_ - block.first;
    for (I j = 0; j < block.keys; ++j) s[j] -= slope * static_cast<T>(j < at ? at - j : j - at);
  }
  /// -inf where the window has not begun.
  void hide_before(const Block& block, I r, T* s) const {
    const I begin = seen(rule_, block.begin + r, queries_, keys_).begin;
    std::fill_n(s, std::clamp<I>(begin - block.first, 0, block.keys), -std::numeric_limits<T>::infinity());
  }
  void mask_row(const Block& block, I r, T* s) const {
    const Strides& strides = rule_.mask.strides();
    const I head = block.head, step = strides[3] != 0, n = block.keys;
    const I at = head / mask_heads_ * strides[0] + head % mask_heads_ * strides[1] +
                 (block.begin + r) * strides[2] + block.first * strides[3];
    if (rule_.mask.dtype() == DType::boolean) {
      constexpr T hidden = -std::numeric_limits<T>::infinity();
      kernels_.where(n, rule_.mask.data<bool>() + at, step, s, 1, &hidden, 0, s);
    } else {
      kernels_.binary[static_cast<int>(kernels::Binary::add)](n, s, 1, rule_.mask.data<T>() + at, step, s);
    }
  }

  const kernels::Table<T>& kernels_ = kernels::table<T>();
  const Rule& rule_;
  Cut cut_;
  HeadRows<const T> q_, k_;
  I queries_, keys_, channels_, mask_heads_;
};

}  // namespace gradus::attention
