#pragma once
// The keys and values of memory, an encoder's output, which a KeyValues keeps for attention over it.

#include <cstdint>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::nn::detail {

/// Tensors that must not change while results computed from them are kept.
class Unchanging {
 public:
  void add(const Tensor& x);
  /// Whether none has changed since the last remember().
  bool unchanged() const { return versions_ == now(); }
  void remember() { versions_ = now(); }
  bool begins_with(const Tensor& x) const;

 private:
  std::vector<std::uint32_t> now() const;
  std::vector<Array> arrays_;
  std::vector<std::uint32_t> versions_;
};

/// Keys and values [S, H, Tk, D] of memory's rows, each read by `shared()` consecutive rows of queries, such
/// as the beams of one source. They are never written to, so copies share their memory.
class MemoryKeys {
 public:
  /// Computed from `memory` with `weights`, the first of which identifies the attention; `padding` hides
  /// some.
  MemoryKeys(const Tensor& memory, const Tensor& padding, const Tensor& k, const Tensor& v,
             const std::vector<Tensor>& weights);

  /// Throws unless they belong to this memory and weight, both are unchanged, and x is [S shared(), Tq, C].
  void expect(const Tensor& memory, const Tensor& weight, const Tensor& x) const;
  /// Throws unless a key_padding_mask, [rows of memory, Tk] or undefined, is that of the first call.
  void expect_padding(const Tensor& padding) const;
  /// Keeps these rows of queries, i64 [N]: copies only when rows of memory are dropped, reordered or shared
  /// unevenly.
  void select(const Tensor& rows);
  /// The rows of a mask [rows of memory, ...] that are still read.
  Tensor still_read(const Tensor& mask) const;

  std::int64_t shared() const { return shared_; }
  const Tensor& k() const { return k_; }
  const Tensor& v() const { return v_; }

 private:
  Unchanging weights_, memory_values_;
  Tensor memory_, k_, v_;
  Tensor padding_;  // a copy; undefined: none
  Tensor sources_;  // the row of memory of each, i64 [S]; undefined: all in order
  std::int64_t shared_ = 1;
};

}  // namespace gradus::nn::detail
