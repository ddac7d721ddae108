#pragma once
// Shared by the tests of data: collects loops into lists and compares bits.

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "gradus/gradus.h"

namespace gradus::test {

/// Whether two lists of batches have the same bits.
template <std::size_t N>
bool same(const std::vector<std::array<Tensor, N>>& a, const std::vector<std::array<Tensor, N>>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t part = 0; part < N; ++part) {
      const Tensor &x = a[i][part], &y = b[i][part];
      if (x.dtype() != y.dtype() || !equal(x, y)) return false;
    }
  return true;
}

/// The batches of a `for`.
template <std::size_t N>
std::vector<std::array<Tensor, N>> loop(data::DataLoader<N>& loader) {
  std::vector<std::array<Tensor, N>> result;
  for (const auto& batch : loader) result.push_back(batch);
  return result;
}

/// The concatenated elements of one part of all batches.
template <std::size_t N>
std::vector<std::int64_t> ids_of(const std::vector<std::array<Tensor, N>>& batches, std::size_t part = 0) {
  std::vector<std::int64_t> result;
  for (const auto& batch : batches)
    for (const std::int64_t id : batch[part].template to_vector<std::int64_t>()) result.push_back(id);
  return result;
}

/// The message that f() throws, or "".
template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE("\"" << text << "\" has no \"" << part << "\"");
  return found;
}

}  // namespace gradus::test
