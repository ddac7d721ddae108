#include "gradus/nn/attention/key_value_cache.h"

#include "gradus/core/detail/format.h"

namespace gradus::nn {

KeyValues::KeyValues(const Shape& shape, const Tensor& weight)
    : weight_(weight.detach()), k_(empty(shape, weight.dtype())), v_(empty(shape, weight.dtype())) {}

KeyValues::KeyValues(const KeyValues& other)
    : weight_(other.weight_),
      k_(other.k_.array().clone()),
      v_(other.v_.array().clone()),
      version_(other.version_),
      length_(other.length_) {}

KeyValues& KeyValues::operator=(KeyValues other) {
  std::swap(weight_, other.weight_);
  std::swap(k_, other.k_);
  std::swap(v_, other.v_);
  version_ = other.version_;
  length_ = other.length_;
  return *this;
}

void KeyValues::truncate(std::int64_t length) {
  check(length >= 0 && length <= length_, "KeyValueCache: expects a length of 0 to {}, what it holds, got {}",
        length_, length);
  length_ = length;
}

void KeyValues::expect_room(const Tensor& weight, const Tensor& x) const {
  check(weight.array().storage() == weight_.array().storage(),
        "KeyValueCache: made by another model or layer: make one with this one's new_cache()");
  check(length_ == 0 || weight.array().storage().version() == version_,
        "KeyValueCache: the weights have changed since it was filled: clear() it");
  check(x.size(0) == batch(), "KeyValueCache: made for a batch of {}, got x {}", batch(), x.shape());
  check(x.size(1) <= capacity() - length_,
        "KeyValueCache: holds {} of {} positions, those of x {} do not fit: clear() it, or make a larger one",
        length_, capacity(), x.shape());
}

std::pair<Tensor, Tensor> KeyValues::append(const Tensor& k, const Tensor& v) {
  if (length_ == 0) version_ = weight_.array().storage().version();
  const std::int64_t end = length_ + k.size(2);
  k_.slice(2, length_, end).copy_(k);
  v_.slice(2, length_, end).copy_(v);
  length_ = end;
  return {k_.slice(2, 0, end), v_.slice(2, 0, end)};
}

KeyValueCache::KeyValueCache(std::vector<KeyValues> layers) : layers_(std::move(layers)) {
  check(!layers_.empty(), "KeyValueCache: expects the keys and values of one layer or more");
}

void KeyValueCache::add_weights(const std::vector<Tensor>& weights) {
  for (const Tensor& weight : weights) weights_.push_back(weight.detach());
}

void KeyValueCache::expect_same_weights() {
  std::vector<std::uint32_t> versions;
  for (const Tensor& weight : weights_) versions.push_back(weight.array().storage().version());
  if (length() == 0)
    versions_ = std::move(versions);
  else
    check(versions == versions_, "KeyValueCache: the weights have changed since it was filled: clear() it");
}

const KeyValues& KeyValueCache::last() const {
  check(!layers_.empty(), "KeyValueCache: was moved from: assign it a new_cache()");
  return layers_.back();
}

KeyValues& KeyValueCache::layer(std::size_t i) {
  check(i < layers_.size(), "KeyValueCache: there is no layer {}: it has {}", i, layers_.size());
  return layers_[i];
}

// A position counts once the last layer has it: the first ones may hold more after an error.
void KeyValueCache::truncate(std::int64_t length) {
  last();
  layers_.back().truncate(length);
  for (KeyValues& layer : layers_) layer.truncate(length);
}

}  // namespace gradus::nn
