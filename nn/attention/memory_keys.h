#pragma once
// What a KeyValues keeps for attention over memory, an encoder's output: its keys and values, made once.

#include <cstdint>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::nn::detail {

/// Tensors that stay as they are while something computed from them is kept.
class Unchanging {
 public:
  void add(const Tensor& x);
  /// Whether all have the values they had at the last remember().
  bool unchanged() const { return versions_ == now(); }
  void remember() { versions_ = now(); }
  bool begins_with(const Tensor& x) const;

 private:
  std::vector<std::uint32_t> now() const;
  std::vector<Array> arrays_;
  std::vector<std::uint32_t> versions_;
};

/// Keys and values [S, H, Tk, D] of memory's rows, each read by `shared()` rows of queries, one after the
/// other, as beams of one source are. Never written to, so copies hold the same memory.
class MemoryKeys {
 public:
  /// Made of `memory` with `weights`, the first of which tells whose they are; `padding` hides some of them.
  MemoryKeys(const Tensor& memory, const Tensor& padding, const Tensor& k, const Tensor& v,
             const std::vector<Tensor>& weights);

  /// Throws unless they are of this memory and weight, unchanged, and serve x [S shared(), Tq, C].
  void expect(const Tensor& memory, const Tensor& weight, const Tensor& x) const;
  /// Throws unless a key_padding_mask, [rows of memory, Tk] or undefined, is that of the first call.
  void expect_padding(const Tensor& padding) const;
  /// Goes on with these rows of queries, i64 [N]: copies only where rows of memory go, change their order, or
  /// are shared unevenly.
  void select(const Tensor& rows);
  /// Of a mask [rows of memory, ...] those that are still read.
  Tensor still_read(const Tensor& mask) const;

  std::int64_t shared() const { return shared_; }
  const Tensor& k() const { return k_; }
  const Tensor& v() const { return v_; }

 private:
  Unchanging weights_, memory_values_;
  Tensor memory_, k_, v_;
  Tensor padding_;  // a copy; undefined: none
  Tensor sources_;  // which row of memory each is, i64 [S]; undefined: all in order
  std::int64_t shared_ = 1;
};

}  // namespace gradus::nn::detail
