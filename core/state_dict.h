#pragma once
// StateDict: named tensors in a fixed order - what modules, optimizers and weight files exchange.

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus {

/// An ordered dictionary from names to tensors: `dict.set("norm.weight", w); dict.at("norm.weight")`.
class StateDict {
 public:
  using Entry = std::pair<std::string, Tensor>;

  StateDict() = default;
  StateDict(std::initializer_list<Entry> entries);

  /// Adds a tensor, or replaces the one of that name.
  void set(const std::string& name, Tensor tensor);
  /// nullptr when there is no such name.
  const Tensor* find(const std::string& name) const&;
  const Tensor* find(const std::string& name) const&& = delete;  // points into it: name the StateDict first
  bool contains(const std::string& name) const { return find(name) != nullptr; }
  /// Throws naming the key and some of the keys there are.
  const Tensor& at(const std::string& name) const&;
  Tensor at(const std::string& name) const&& { return at(name); }
  /// Every entry whose name starts with `prefix`, without it: a part of a checkpoint.
  StateDict with_prefix_removed(const std::string& prefix) const;
  /// Adds every entry of `other` under prefix + name.
  void add_all(const std::string& prefix, const StateDict& other);

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const& { return entries_.begin(); }
  auto end() const& { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> places_;  // of the names in entries_
};

}  // namespace gradus
