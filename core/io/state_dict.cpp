#include "gradus/core/io/state_dict.h"

#include <algorithm>
#include <functional>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/printable.h"

namespace gradus {

StateDict::StateDict(std::initializer_list<Entry> entries) {
  for (const auto& [name, tensor] : entries) set(name, tensor);
}

/// The name's position in slots_, or where it belongs.
std::size_t StateDict::slot_of(const std::string& name) const {
  const std::size_t mask = slots_.size() - 1;  // their number is a power of 2
  std::size_t slot = std::hash<std::string>()(name) & mask;
  while (slots_[slot] != 0 && entries_[slots_[slot] - 1].first != name) slot = (slot + 1) & mask;
  return slot;
}

void StateDict::grow() {
  slots_.assign(std::max<std::size_t>(8, 2 * slots_.size()), 0);
  check(slots_.size() <= UINT32_MAX, "StateDict: expects fewer than 2^30 entries");
  for (std::size_t i = 0; i < entries_.size(); ++i)
    slots_[slot_of(entries_[i].first)] = static_cast<std::uint32_t>(i + 1);
}

const Tensor* StateDict::find(const std::string& name) const& {
  const std::uint32_t place = slots_.empty() ? 0 : slots_[slot_of(name)];
  return place == 0 ? nullptr : &entries_[place - 1].second;
}

void StateDict::set(const std::string& name, Tensor tensor) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow();
  std::uint32_t& place = slots_[slot_of(name)];
  if (place != 0) {
    entries_[place - 1].second = std::move(tensor);
    return;
  }
  entries_.emplace_back(name, std::move(tensor));
  place = static_cast<std::uint32_t>(entries_.size());
}

const Tensor& StateDict::at(const std::string& name) const& {
  if (const Tensor* const tensor = find(name)) return *tensor;
  std::string have;
  for (std::size_t i = 0; i < entries_.size() && i < 5; ++i)
    have += (i ? ", " : "") + io::printable(entries_[i].first);
  if (entries_.size() > 5) have += fmt::format(", ... ({} in all)", entries_.size());
  fail_with("StateDict: no entry '{}': it holds {}", io::printable(name),
            entries_.empty() ? "nothing" : have);
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

StateDict StateDict::clone() const {
  StateDict copy;
  for (const auto& [name, tensor] : entries_)
    copy.set(name, tensor.defined() ? Tensor(tensor.array().clone()) : tensor);
  return copy;
}

}  // namespace gradus
