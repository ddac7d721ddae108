#include "gradus/core/state_dict.h"

#include "gradus/core/format.h"

namespace gradus {

StateDict::StateDict(std::initializer_list<Entry> entries) {
  for (const auto& [name, tensor] : entries) set(name, tensor);
}

// Dictionaries hold hundreds of names at most, and are built once: a linear search is enough.
const Tensor* StateDict::find(const std::string& name) const {
  for (const Entry& entry : entries_)
    if (entry.first == name) return &entry.second;
  return nullptr;
}

void StateDict::set(const std::string& name, Tensor tensor) {
  for (Entry& entry : entries_)
    if (entry.first == name) {
      entry.second = std::move(tensor);
      return;
    }
  entries_.emplace_back(name, std::move(tensor));
}

const Tensor& StateDict::at(const std::string& name) const {
  if (const Tensor* const tensor = find(name)) return *tensor;
  std::string have;
  for (std::size_t i = 0; i < entries_.size() && i < 5; ++i) have += (i ? ", " : "") + entries_[i].first;
  if (entries_.size() > 5) have += fmt::format(", ... ({} in all)", entries_.size());
  fail_with("StateDict: no entry '{}': it holds {}", name, entries_.empty() ? "nothing" : have);
}

StateDict StateDict::with_prefix_removed(const std::string& prefix) const {
  StateDict part;
  for (const auto& [name, tensor] : entries_)
    if (name.starts_with(prefix)) part.entries_.emplace_back(name.substr(prefix.size()), tensor);
  return part;
}

void StateDict::add_all(const std::string& prefix, const StateDict& other) {
  for (const auto& [name, tensor] : other) set(prefix + name, tensor);
}

}  // namespace gradus
