#pragma once
// StateDict: named tensors in a fixed order, exchanged between modules, optimizers and weight files.

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus {

/// An ordered dictionary from names to tensors: `dict.set("norm.weight", w); dict.at("norm.weight")`.
class StateDict {
 public:
  using Entry = std::pair<std::string, Tensor>;  // a name and its tensor

  StateDict() = default;
  StateDict(std::initializer_list<Entry> entries);

  /// Adds a tensor, or replaces the one of that name.
  void set(const std::string& name, Tensor tensor);
  /// nullptr when there is no such name.
  const Tensor* find(const std::string& name) const&;
  const Tensor* find(const std::string& name) const&& = delete;  // points into it: name the StateDict first
  bool contains(const std::string& name) const { return find(name) != nullptr; }
  /// Throws naming the key and some of the existing keys.
  const Tensor& at(const std::string& name) const&;
  Tensor at(const std::string& name) const&& { return at(name); }
  /// Every entry whose name starts with `prefix`, with the prefix removed: a part of a checkpoint.
  StateDict with_prefix_removed(const std::string& prefix) const;
  /// Adds every entry of `other` under prefix + name.
  void add_all(const std::string& prefix, const StateDict& other);
  /// Copies of all tensors, unaffected by training a model that shares these.
  StateDict clone() const;

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const& { return entries_.begin(); }
  auto end() const& { return entries_.end(); }
  void begin() const&& = delete;  // the entries go with the temporary: name the StateDict first
  void end() const&& = delete;    // the entries go with the temporary: name the StateDict first

 private:
  std::size_t slot_of(const std::string& name) const;
  void grow();
  // Many small tensors should cost little more than their file: a list that never needs twice its memory, and
  // a hash table without the names, at least half empty: 1 + an index in entries_, or 0.
  std::deque<Entry> entries_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace gradus
