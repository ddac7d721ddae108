// Communicator::expect_same: digests are compared; only if they differ, the texts themselves are exchanged.

#include <algorithm>
#include <string>
#include <vector>

#include "gradus/core/check.h"
#include "gradus/core/io/crc32.h"
#include "gradus/core/io/printable.h"
#include "gradus/distributed/communicator.h"

namespace gradus::distributed {

namespace {

/// The text of one rank, on all ranks.
std::string text_of(const Communicator& world, int rank, std::string_view own, std::int64_t size) {
  const Tensor bytes = zeros({size / 8 + 1}, i64);
  auto* const memory = reinterpret_cast<char*>(bytes.mutable_span<std::int64_t>().data());
  if (world.rank() == rank) std::copy(own.begin(), own.end(), memory);
  world.broadcast(bytes, rank);
  return {memory, static_cast<std::size_t>(size)};
}

/// Up to 80 characters of a text, around place `at`, on one line.
std::string excerpt(const std::string& text, std::size_t at) {
  const std::size_t begin = at < 40 ? 0 : at - 40;
  std::string part = text.substr(begin, 80);
  std::replace(part.begin(), part.end(), '\n', ' ');
  return (begin > 0 ? "..." : "") + io::printable(part) + (begin + part.size() < text.size() ? "..." : "");
}

}  // namespace

void Communicator::expect_same(std::string_view what, std::string_view text) const {
  const auto size = static_cast<std::int64_t>(text.size());
  const Tensor all = all_gather(tensor({std::int64_t{io::crc32(text.data(), text.size())}, size}));
  const auto digests = all.span<std::int64_t>();
  std::vector<int> different;
  for (int r = 1; r < this->size(); ++r) {
    const auto i = 2 * static_cast<std::size_t>(r);
    if (digests[i] != digests[0] || digests[i + 1] != digests[1]) different.push_back(r);
  }
  if (different.empty()) return;
  const int other = different[0];
  const std::string first = text_of(*this, 0, text, digests[1]);
  const std::string second = text_of(*this, other, text, digests[2 * static_cast<std::size_t>(other) + 1]);
  const auto [in_first, in_second] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
  const auto at = static_cast<std::size_t>(in_first - first.begin());
  std::string ranks;
  for (std::size_t i = 0; i < different.size() && i < 8; ++i)
    ranks += (i == 0 ? "" : ", ") + std::to_string(different[i]);
  if (different.size() > 8) ranks += ", ...";
  throw CommonError(std::string(what) + " must be the same on all ranks. Different from rank 0: rank " +
                    ranks + ". Rank " + std::to_string(other) + " has \"" + excerpt(second, at) +
                    "\", rank 0 \"" + excerpt(first, at) + "\"");
}

}  // namespace gradus::distributed
