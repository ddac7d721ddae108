#pragma once
// Names of tensors that differ from rank to rank, where the parts of one model are on several ranks.

#include <string>
#include <string_view>
#include <vector>

#include "gradus/distributed/communicator.h"

namespace gradus::distributed::detail {

/// Each rank's text, on every rank.
std::vector<std::string> all_texts(const Communicator& world, std::string_view own);

struct NameOnRanks {
  std::string name;
  std::vector<int> ranks;  // that have it, ascending
};

/// All names of all ranks, each once. What a rank has in a row stays in that order; a name that other ranks
/// do not have comes before the next one that they have, or last: the order in which one process that had
/// them all would have them, for stages (a b | c d) and for blocks between common names (a0 a1 b | a2 a3 b).
std::vector<NameOnRanks> names_of_ranks(const Communicator& world, const std::vector<std::string>& own);

}  // namespace gradus::distributed::detail
