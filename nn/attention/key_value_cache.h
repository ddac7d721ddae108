#pragma once
// The key-value cache of a causal model. A position's keys and values do not change when more tokens follow,
// so with a cache a new token costs one row per layer instead of all rows:
//
//   nn::KeyValueCache cache = gpt.new_cache();
//   Tensor logits = gpt.next_logits(prompt, cache);  // [1, T] -> [1, V]
//   for (...) logits = gpt.next_logits(draw(logits), cache);  // [1, 1] -> [1, V]
//
// Without it T tokens cost O(T^2) rows, with it T; memory is 2 kv_heads head_dim elements per layer and
// position. A decoder's cache also holds the keys and values of the encoder's output, computed once.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gradus/nn/attention/memory_keys.h"
#include "gradus/nn/module/module.h"

namespace gradus::nn {

/// The keys and values of one attention, made by its new_cache(): attention(x, {}, &kept) reads and extends
/// them. The cache of a decoder block also holds the keys and values of memory, which the first call of
/// cross_attention(x, memory, {}, &kept) computes.
class KeyValues {
 public:
  /// Allocates `shape` [B, H, capacity, D] for each; they are computed from x with `weight` and `bias`, if
  /// any.
  KeyValues(const Shape& shape, const Tensor& weight, const Tensor& bias = {});
  /// Adds another tensor they are computed with, which must not change while positions are held.
  void depends_on(const Tensor& w) { weights_.add(w); }
  // Copies have separate memory: both may be extended.
  KeyValues(const KeyValues& other);
  KeyValues(KeyValues&&) = default;
  KeyValues& operator=(KeyValues other);

  std::int64_t batch() const { return k_.size(0); }     // sequences
  std::int64_t length() const { return length_; }       // positions held
  std::int64_t capacity() const { return k_.size(2); }  // the maximum number of positions
  /// Drops all positions except the first `length`; throws when there are fewer. 0 also drops memory.
  void truncate(std::int64_t length);

  /// Keeps these sequences of the batch, i64 [N], each as often as listed; when it throws, nothing changes.
  /// Selecting fewer sequences than before frees no memory.
  void select(const Tensor& rows);

  /// Throws unless the cache belongs to this weight, the weight has not changed, and there is room for
  /// x [B, T, C].
  void expect_room(const Tensor& weight, const Tensor& x) const;
  /// Appends k, v [B, H, T, D] to those held; returns views of all, [B, H, length, D]. Throws when shapes
  /// differ or there is no room.
  std::pair<Tensor, Tensor> append(const Tensor& k, const Tensor& v);

  /// The keys and values of memory, for attention over it; nullopt before its first call.
  std::optional<detail::MemoryKeys>& memory() { return memory_; }

 private:
  friend class KeyValueCache;
  struct Selection;
  Selection prepare(const Tensor& rows) const;
  void commit(Selection& selection) noexcept;
  void write(const char* name, const Tensor& kept, const Tensor& x, std::int64_t length) const;
  detail::Unchanging weights_;
  Tensor k_, v_;
  std::int64_t length_ = 0;
  std::optional<detail::MemoryKeys> memory_;
};

/// The keys and values of every layer of a model, made by its new_cache(). A copy has separate memory, to try
/// several answers to one prompt; a cache that was moved from can only be assigned to.
class KeyValueCache {
 public:
  /// A cache of `model`'s layers.
  KeyValueCache(std::vector<KeyValues> layers, const Module& model);
  KeyValueCache(const KeyValueCache&) = default;
  KeyValueCache(KeyValueCache&&) = default;
  KeyValueCache& operator=(KeyValueCache other) noexcept;  // all layers, or none when out of memory
  /// Adds a model that contains that one, such as a stack with embeddings.
  void add_model(const Module& model);
  /// Throws unless the cache was made for this model and no parameter or buffer has changed since the first
  /// position was added. Models call it before each step.
  void expect_model(const Module& model);
  /// Returns f(); when f throws, the cache drops the positions added meanwhile.
  template <class F>
  auto attempt(F&& f) {
    const std::int64_t before = length();
    try {
      return f();
    } catch (...) {
      truncate(before);
      throw;
    }
  }

  std::int64_t batch() const { return last().batch(); }  // sequences
  /// The number of positions that every layer holds.
  std::int64_t length() const { return last().length(); }
  std::int64_t capacity() const { return last().capacity(); }
  /// Drops all positions except the first `length`: `cache.truncate(prompt_length)` to try another answer.
  /// With length 0, a decoder's cache also drops its memory.
  void truncate(std::int64_t length);
  void clear() { truncate(0); }
  /// Keeps these sequences of the batch, i64 [N], each as often as listed: for beam search. Later calls of a
  /// decoder still get the same memory and mask as before; beams that share a row of memory share its keys.
  /// When it throws, no layer changes.
  void select(const Tensor& rows);

  std::size_t layers() const { return layers_.size(); }  // of blocks
  KeyValues& layer(std::size_t i);                       // of block i, from 0

 private:
  const KeyValues& last() const;
  std::vector<KeyValues> layers_;
  std::vector<std::shared_ptr<const Module>> models_;
  detail::Unchanging weights_;
};

}  // namespace gradus::nn
