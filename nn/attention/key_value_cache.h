#pragma once
// What a causal model remembers of the tokens it has read. A position's keys and values never change when
// more tokens follow, so whoever keeps them computes one row per layer for a new token instead of all rows:
//
//   nn::KeyValueCache cache = gpt.new_cache();
//   Tensor logits = gpt.next_logits(prompt, cache);  // [1, T] -> [1, V]
//   for (...) logits = gpt.next_logits(draw(logits), cache);  // [1, 1] -> [1, V]
//
// Without it T tokens cost O(T^2) rows, with it T; memory is 2 C numbers per layer and position.

#include <utility>
#include <vector>

#include "gradus/nn/module/module.h"

namespace gradus::nn {

/// The keys and values of one attention, made by its new_cache(): attention(x, {}, &kept) reads and extends
/// them.
class KeyValues {
 public:
  /// Space for `shape` [B, H, capacity, D] of each; `weight` is the one that makes them from x.
  KeyValues(const Shape& shape, const Tensor& weight);
  // Copies have memory of their own: both may go on.
  KeyValues(const KeyValues& other);
  KeyValues(KeyValues&&) = default;
  KeyValues& operator=(KeyValues other);

  std::int64_t batch() const { return k_.size(0); }
  std::int64_t length() const { return length_; }  // positions held
  std::int64_t capacity() const { return k_.size(2); }
  /// Forgets all positions but the first `length`; throws when there are fewer.
  void truncate(std::int64_t length);

  /// Throws unless the cache belongs to this weight, with the values it had so far, and has room for x [B, T,
  /// C].
  void expect_room(const Tensor& weight, const Tensor& x) const;
  /// Puts k, v [B, H, T, D] behind those held; returns views of all, [B, H, length, D].
  std::pair<Tensor, Tensor> append(const Tensor& k, const Tensor& v);

 private:
  Tensor weight_, k_, v_;
  std::uint32_t version_ = 0;  // of the weight, when the first position was computed
  std::int64_t length_ = 0;
};

/// The keys and values of every layer of a model, made by its new_cache(). A copy has memory of its own, to
/// try several answers to one prompt; one that was moved from can only be assigned to.
class KeyValueCache {
 public:
  explicit KeyValueCache(std::vector<KeyValues> layers);

  /// What the keys and values are computed from besides, such as embeddings, norms and earlier layers.
  void add_weights(const std::vector<Tensor>& weights);
  /// Throws where one of them has changed since the first position was taken in. Called before each step.
  void expect_same_weights();

  std::int64_t batch() const { return last().batch(); }
  /// Positions every layer holds.
  std::int64_t length() const { return last().length(); }
  std::int64_t capacity() const { return last().capacity(); }
  /// Forgets all positions but the first `length`: `cache.truncate(prompt_length)` to try another answer.
  void truncate(std::int64_t length);
  void clear() { truncate(0); }

  std::size_t layers() const { return layers_.size(); }
  KeyValues& layer(std::size_t i);

 private:
  const KeyValues& last() const;
  std::vector<KeyValues> layers_;
  std::vector<Tensor> weights_;
  std::vector<std::uint32_t> versions_;  // of these, when the first position was computed
};

}  // namespace gradus::nn
