#pragma once
// What a causal model remembers of the tokens it has read. A position's keys and values never change when
// more tokens follow, so whoever keeps them computes one row per layer for a new token instead of all rows:
//
//   nn::KeyValueCache cache = gpt.new_cache();
//   Tensor logits = gpt.next_logits(prompt, cache);  // [1, T] -> [1, V]
//   for (...) logits = gpt.next_logits(draw(logits), cache);  // [1, 1] -> [1, V]
//
// Without it T tokens cost O(T^2) rows, with it T; memory is 2 C numbers per layer and position. A decoder's
// holds besides what its attention over the encoder's output makes of that, once.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gradus/nn/attention/memory_keys.h"
#include "gradus/nn/module/module.h"

namespace gradus::nn {

/// The keys and values of one attention, made by its new_cache(): attention(x, {}, &kept) reads and extends
/// them. That of a decoder block also holds those of memory, which cross_attention(x, memory, {}, &kept)
/// makes at its first call.
class KeyValues {
 public:
  /// Space for `shape` [B, H, capacity, D] of each; `weight` and `bias`, if there is one, make them from x.
  KeyValues(const Shape& shape, const Tensor& weight, const Tensor& bias = {});
  /// Another tensor they are made with, which may not change while positions are held.
  void depends_on(const Tensor& w) { weights_.add(w); }
  // Copies have memory of their own: both may go on.
  KeyValues(const KeyValues& other);
  KeyValues(KeyValues&&) = default;
  KeyValues& operator=(KeyValues other);

  std::int64_t batch() const { return k_.size(0); }     // sequences
  std::int64_t length() const { return length_; }       // positions held
  std::int64_t capacity() const { return k_.size(2); }  // positions there is room for
  /// Forgets all positions but the first `length`; throws when there are fewer. With 0, memory too.
  void truncate(std::int64_t length);

  /// Goes on with these sequences of the batch, i64 [N], each as often as it is named; changes nothing where
  /// it throws. Fewer sequences than before keep the memory of all.
  void select(const Tensor& rows);

  /// Throws unless the cache belongs to this weight, with the values it had so far, and has room for
  /// x [B, T, C].
  void expect_room(const Tensor& weight, const Tensor& x) const;
  /// Puts k, v [B, H, T, D] behind those held; returns views of all, [B, H, length, D]. Throws where they
  /// have other shapes, or no room.
  std::pair<Tensor, Tensor> append(const Tensor& k, const Tensor& v);

  /// Those of memory, for attention over it; none before its first call.
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

/// The keys and values of every layer of a model, made by its new_cache(). A copy has memory of its own, to
/// try several answers to one prompt; one that was moved from can only be assigned to.
class KeyValueCache {
 public:
  /// Those of `model`'s layers.
  KeyValueCache(std::vector<KeyValues> layers, const Module& model);
  KeyValueCache(const KeyValueCache&) = default;
  KeyValueCache(KeyValueCache&&) = default;
  KeyValueCache& operator=(KeyValueCache other) noexcept;  // all layers, or without memory for one none
  /// For a model around that one too, say with embeddings.
  void add_model(const Module& model);
  /// Throws unless it was made for this model, in which no parameter and no buffer has changed since the
  /// first position was taken in. For models to call before each step.
  void expect_model(const Module& model);
  /// f(); where it throws, the cache forgets what it has taken in meanwhile.
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
  /// Positions every layer holds.
  std::int64_t length() const { return last().length(); }
  std::int64_t capacity() const { return last().capacity(); }
  /// Forgets all positions but the first `length`: `cache.truncate(prompt_length)` to try another answer.
  /// A decoder's forgets its memory with the last of them.
  void truncate(std::int64_t length);
  void clear() { truncate(0); }
  /// Goes on with these sequences of the batch, i64 [N], each as often as it is named: for beam search. A
  /// decoder is given the same memory and mask of it as before; where beams share a row, its keys stay one.
  /// Changes all layers, or where it throws none.
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
