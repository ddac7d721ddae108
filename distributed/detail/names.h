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

/// All names of all ranks, each once, as in a module that has them all: its parts, whose names end at a dot,
/// come in the order in which they first come up from rank 0 on, each with all its names. So the order is
/// that of one process for stages (a.w b.w | c.w d.w) and for blocks of the same parts (a.0 a.1 b.0 | a.2 a.3
/// b.1), on any number of ranks.
std::vector<NameOnRanks> names_of_ranks(const Communicator& world, const std::vector<std::string>& own);

}  // namespace gradus::distributed::detail
