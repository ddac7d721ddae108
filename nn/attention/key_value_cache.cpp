#include "gradus/nn/attention/key_value_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/claims.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

KeyValues::KeyValues(const Shape& shape, const Tensor& weight, const Tensor& bias)
    : k_(empty(shape, is_half(weight.dtype()) ? f32 : weight.dtype())), v_(empty(shape, k_.dtype())) {
  weights_.add(weight);
  if (bias.defined()) weights_.add(bias);
}

KeyValues::KeyValues(const KeyValues& other)
    : weights_(other.weights_),
      k_(other.k_.array().clone()),
      v_(other.v_.array().clone()),
      length_(other.length_),
      memory_(other.memory_) {}

KeyValues& KeyValues::operator=(KeyValues other) {
  std::swap(weights_, other.weights_);
  std::swap(k_, other.k_);
  std::swap(v_, other.v_);
  length_ = other.length_;
  std::swap(memory_, other.memory_);
  return *this;
}

void KeyValues::truncate(std::int64_t length) {
  check(length >= 0 && length <= length_,
        "KeyValueCache: expects a length of 0 to {}, the positions it holds, got {}", length_, length);
  length_ = length;
  if (length == 0) memory_.reset();
}

/// Whether these are rows 0 .. count - 1, in order.
static bool all_in_order(const std::vector<std::int64_t>& rows, std::int64_t count) {
  if (std::ssize(rows) != count) return false;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

namespace detail {

/// Copies row `from` to row `to`, or swaps the two.
struct RowMove {
  std::int64_t from, to;
  bool swap;
};

/// The moves that turn the first of `count` rows into the wanted ones, in place; at most `count` are wanted.
static std::vector<RowMove> moves_to(const std::vector<std::int64_t>& wanted, std::int64_t count) {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const std::int64_t rows = std::ssize(wanted);
  std::vector<RowMove> moves;
  std::vector<std::int64_t> readers(at(count));  // rows that still need this one
  std::vector<bool> waits(at(rows));
  for (std::int64_t i = 0; i < rows; ++i)
    if (wanted[at(i)] != i) waits[at(i)] = true, ++readers[at(wanted[at(i)])];
  // A row without readers is overwritten; this may remove the last reader of its source.
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t row = i; row < rows && waits[at(row)] && readers[at(row)] == 0; row = wanted[at(row)]) {
      moves.push_back({wanted[at(row)], row, false});
      waits[at(row)] = false;
      --readers[at(wanted[at(row)])];
    }
  // The remaining rows form cycles.
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t row = i; waits[at(row)]; row = wanted[at(row)]) {
      waits[at(row)] = false;
      if (wanted[at(row)] != i) moves.push_back({wanted[at(row)], row, true});
    }
  return moves;
}

}  // namespace detail

/// Everything that select() allocates before it changes anything.
struct KeyValues::Selection {
  Tensor k, v;                         // new tensors with these rows, or the first rows of the old ones
  std::vector<detail::RowMove> moves;  // fill the first rows of the old ones
  std::optional<detail::MemoryKeys> memory;
};

KeyValues::Selection KeyValues::prepare(const Tensor& rows) const {
  check(rows.defined() && rows.dim() == 1 && rows.dtype() == i64,
        "KeyValueCache: select expects the numbers of sequences, i64 [N], got {}",
        rows.defined() ? fmt::format("{} {}", rows.dtype(), rows.shape()) : "an undefined tensor");
  const std::vector<std::int64_t> numbers = rows.to_vector<std::int64_t>();
  for (const std::int64_t row : numbers)
    check(row >= 0 && row < batch(), "KeyValueCache: select expects sequences from 0 to {}, got {}",
          batch() - 1, row);
  if (all_in_order(numbers, batch())) return {k_, v_, {}, memory_};
  std::optional<detail::MemoryKeys> memory = memory_;
  if (memory) memory->select(rows);
  const std::int64_t count = rows.size(0);
  if (count <= batch()) {
    const auto first = [&](const Tensor& kept) { return Tensor(kept.array().slice(0, 0, count)); };
    return {first(k_), first(v_), detail::moves_to(numbers, batch()), std::move(memory)};
  }
  const auto selected = [&](const Tensor& kept) {
    Shape shape = kept.shape();
    shape[0] = count;
    const Tensor all = empty(shape, kept.dtype());
    const Array from = kept.array().slice(2, 0, length_), to = all.array().slice(2, 0, length_);
    for (std::int64_t i = 0; i < count && length_ > 0; ++i) {
      const std::int64_t row = numbers[static_cast<std::size_t>(i)];
      to.slice(0, i, i + 1).copy_(from.slice(0, row, row + 1));
    }
    return all;
  };
  return {selected(k_), selected(v_), {}, std::move(memory)};
}

void KeyValues::commit(Selection& selection) noexcept {
  for (const Array* const kept : {&k_.array(), &v_.array()}) {
    const auto bytes_of = [&](std::int64_t elements) {
      return static_cast<std::size_t>(elements) * size_of(kept->dtype());
    };
    const std::size_t head = bytes_of(capacity() * k_.size(3)), used = bytes_of(length_ * k_.size(3));
    const auto heads = static_cast<std::size_t>(k_.size(1));
    auto* const all = const_cast<std::byte*>(static_cast<const std::byte*>(kept->raw()));
    const auto at = [&](std::int64_t row, std::size_t h) {
      return all + (static_cast<std::size_t>(row) * heads + h) * head;
    };
    for (const auto& [from, to, swap] : selection.moves)
      for (std::size_t h = 0; h < heads && used > 0; ++h)
        if (swap)
          std::swap_ranges(at(from, h), at(from, h) + used, at(to, h));
        else
          std::memcpy(at(to, h), at(from, h), used);
    if (!selection.moves.empty()) kept->storage().bump_version();
  }
  k_ = std::move(selection.k);
  v_ = std::move(selection.v);
  memory_ = std::move(selection.memory);
}

void KeyValues::select(const Tensor& rows) {
  Selection selection = prepare(rows);
  commit(selection);
}

void KeyValues::expect_room(const Tensor& weight, const Tensor& x) const {
  check(weights_.begins_with(weight),
        "KeyValueCache: was made by another model or layer: call this one's new_cache()");
  check(length_ == 0 || weights_.unchanged(),
        "KeyValueCache: the weights have changed since it was filled: clear() it");
  check(x.size(0) == batch(), "KeyValueCache: made for a batch of {}, got x {}", batch(), x.shape());
  check(x.size(1) <= capacity() - length_,
        "KeyValueCache: holds {} of {} positions, those of x {} do not fit: clear() it, or make a larger one",
        length_, capacity(), x.shape());
}

/// Uses arrays, not ops: memory after the positions held was never written.
void KeyValues::write(const char* name, const Tensor& kept, const Tensor& x, std::int64_t length) const {
  check(x.defined(), "KeyValueCache: {} is an undefined tensor", name);
  const Shape room{kept.size(0), kept.size(1), length, kept.size(3)};
  check(x.shape() == room && x.dtype() == kept.dtype(), "KeyValueCache: expects {} of {} {}, got {} {}", name,
        kept.dtype(), room, x.dtype(), x.shape());
  check(length <= capacity() - length_,
        "KeyValueCache: holds {} of {} positions, {} more do not fit: clear() it, or make a larger one",
        length_, capacity(), length);
  kept.array().slice(2, length_, length_ + length).copy_(x.array());
}

std::pair<Tensor, Tensor> KeyValues::append(const Tensor& k, const Tensor& v) {
  const std::int64_t length = k.defined() && k.dim() == 4 ? k.size(2) : 0;
  write("k", k_, k, length);
  write("v", v_, v, length);
  if (length_ == 0) weights_.remember();
  length_ += length;
  return {Tensor(k_.array().slice(2, 0, length_)), Tensor(v_.array().slice(2, 0, length_))};
}

KeyValueCache::KeyValueCache(std::vector<KeyValues> layers, const Module& model)
    : layers_(std::move(layers)) {
  check(!layers_.empty(), "KeyValueCache: expects the keys and values of one layer or more");
  add_model(model);
}

KeyValueCache& KeyValueCache::operator=(KeyValueCache other) noexcept {
  layers_.swap(other.layers_);
  models_.swap(other.models_);
  std::swap(weights_, other.weights_);
  return *this;
}

void KeyValueCache::add_model(const Module& model) {
  check(length() == 0, "KeyValueCache: holds {} positions already: clear() it first", length());
  const NoClaims guard;
  detail::Unchanging weights = weights_;
  for (const Tensor& w : model.parameters()) weights.add(w);
  for (const Tensor& x : model.buffers()) weights.add(x);
  models_.push_back(std::make_shared<const Module>(model));
  weights_ = std::move(weights);
}

void KeyValueCache::expect_model(const Module& model) {
  last();
  const auto same = [&](const auto& made_for) { return *made_for == model; };
  check(std::any_of(models_.begin(), models_.end(), same),
        "KeyValueCache: was made by another model or layer: call this one's new_cache()");
  if (length() == 0) weights_.remember();
  check(weights_.unchanged(), "KeyValueCache: the weights have changed since it was filled: clear() it");
}

void KeyValueCache::select(const Tensor& rows) {
  last();  // throws for a cache that was moved from; the loops would do nothing
  std::vector<KeyValues::Selection> selections;
  for (const KeyValues& layer : layers_) selections.push_back(layer.prepare(rows));
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].commit(selections[i]);
}

const KeyValues& KeyValueCache::last() const {
  check(!layers_.empty(), "KeyValueCache: was moved from: assign it a new_cache()");
  return layers_.back();
}

KeyValues& KeyValueCache::layer(std::size_t i) {
  check(i < layers_.size(), "KeyValueCache: there is no layer {}: it has {}", i, layers_.size());
  return layers_[i];
}

// A position counts once the last layer has it: the first layers may hold more after an error.
void KeyValueCache::truncate(std::int64_t length) {
  std::int64_t held = last().length();
  for (const KeyValues& layer : layers_) held = std::min(held, layer.length());
  check(length >= 0 && length <= held,
        "KeyValueCache: expects a length of 0 to {}, the positions it holds, got {}", held, length);
  for (KeyValues& layer : layers_) layer.truncate(length);
}

}  // namespace gradus::nn
