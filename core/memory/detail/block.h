#pragma once
// The allocator's part of a block's header.

#include "gradus/core/memory/storage.h"

namespace gradus {

namespace detail {
class Ledger;
}

struct alignas(kBlockHeader) Block : StorageBlock {
  std::uint32_t size_class;
  std::size_t capacity;  // bytes held
  Block* next_free;
  detail::Ledger* ledger;  // of the Profile that watched when it was taken, or null
  std::uint32_t account;   // there: the account that made it
  bool mapped;             // on huge pages, not from malloc
};
static_assert(sizeof(Block) == kBlockHeader);

}  // namespace gradus
