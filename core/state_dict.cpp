#include "gradus/core/state_dict.h"

#include "gradus/core/format.h"

namespace gradus {

StateDict::StateDict(std::initializer_list<Entry> entries) {
  for (const auto& [name, tensor] : entries) set(name, tensor);
}

const Tensor* StateDict::find(const std::string& name) const& {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &entries_[place->second].second;
}

void StateDict::set(const std::string& name, Tensor tensor) {
  const auto [place, added] = places_.try_emplace(name, entries_.size());
  if (added)
    entries_.emplace_back(name, std::move(tensor));
  else
    entries_[place->second].second = std::move(tensor);
}

const Tensor& StateDict::at(const std::string& name) const& {
  if (const Tensor* const tensor = find(name)) return *tensor;
  std::string have;
  for (std::size_t i = 0; i < entries_.size() && i < 5; ++i) have += (i ? ", " : "") + entries_[i].first;
  if (entries_.size() > 5) have += fmt::format(", ... ({} in all)", entries_.size());
  fail_with("StateDict: no entry '{}': it holds {}", name, entries_.empty() ? "nothing" : have);
}

StateDict StateDict::with_prefix_removed(const std::string& prefix) const {
  StateDict part;
  for (const auto& [name, tensor] : entries_)
    if (name.starts_with(prefix)) part.set(name.substr(prefix.size()), tensor);
  return part;
}

void StateDict::add_all(const std::string& prefix, const StateDict& other) {
  for (const auto& [name, tensor] : other) set(prefix + name, tensor);
}

}  // namespace gradus
