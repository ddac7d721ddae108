// Blocks of 128 KiB to 2 MiB, which share regions of 32 MiB on huge pages.

#include <doctest/doctest.h>
#include <sanitizer/asan_interface.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "gradus/core/memory/storage.h"
#include "in_child.h"

using namespace gradus;
using test::in_child;

namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;

struct Pages {
  std::size_t mapped = 0, resident = 0;  // in bytes
};

Pages pages_of_this_process() {
  Pages pages;
  std::ifstream("/proc/self/statm") >> pages.mapped >> pages.resident;
  return {pages.mapped * 4096, pages.resident * 4096};
}

Storage filled(std::size_t bytes, unsigned char value) {
  Storage storage = Storage::allocate(bytes);
  std::memset(storage.data(), value, bytes);
  return storage;
}

bool holds(const Storage& storage, unsigned char value) {
  const auto* const first = static_cast<const unsigned char*>(storage.data());
  return std::all_of(first, first + storage.bytes(), [value](unsigned char byte) { return byte == value; });
}

/// 64 blocks of 1 MiB, each with distinct bytes; the first at the start of a region.
std::vector<Storage> sixty_four() {
  empty_cache();
  std::vector<Storage> blocks;
  for (unsigned char i = 0; i < 64; ++i) blocks.push_back(filled(MiB, i));
  return blocks;
}

}  // namespace

TEST_CASE("huge pages: blocks of all sizes, in several regions, keep their bytes") {
  empty_cache();
  std::vector<Storage> blocks;
  for (std::size_t bytes = 120 * KiB; bytes < 2 * MiB; bytes += 29'001)
    blocks.push_back(filled(bytes, static_cast<unsigned char>(blocks.size())));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    CHECK(reinterpret_cast<std::size_t>(blocks[i].data()) % 64 == 0);
    CHECK(holds(blocks[i], static_cast<unsigned char>(i)));
  }
}

TEST_CASE("huge pages: adjacent blocks of one size start at different offsets in their pages") {
  empty_cache();
  const Storage a = Storage::allocate(256 * KiB), b = Storage::allocate(256 * KiB);
  const auto apart = static_cast<char*>(b.data()) - static_cast<char*>(a.data());
  CHECK(apart % 4096 >= 512);
  CHECK(apart % 4096 <= 4096 - 512);
}

TEST_CASE("huge pages: emptying the cache returns pages although adjacent blocks are in use") {
  std::vector<Storage> blocks = sixty_four();
  const Pages full = pages_of_this_process();
  const auto live = static_cast<std::size_t>(memory_stats().live_bytes);
  for (std::size_t i = 0; i < 64; ++i)
    if (i % 8 != 5) blocks[i] = Storage();
  CHECK(memory_stats().cached_bytes == 56 * static_cast<std::int64_t>(MiB));
  empty_cache();
  CHECK(memory_stats().cached_bytes == 0);
  CHECK(static_cast<std::size_t>(memory_stats().live_bytes) == live - 56 * MiB);
  CHECK(pages_of_this_process().resident <= full.resident - 54 * MiB);
  for (std::size_t i = 5; i < 64; i += 8) CHECK(holds(blocks[i], static_cast<unsigned char>(i)));

  blocks.clear();
  empty_cache();
  const Pages empty = pages_of_this_process();
  CHECK(empty.resident <= full.resident - 62 * MiB);
  CHECK(empty.mapped <= full.mapped - 64 * MiB);  // the addresses, too
}

#ifndef __SANITIZE_THREAD__  // whose tables are four times the memory they watch
TEST_CASE("huge pages: a small program uses only one") {
  empty_cache();
  const Pages before = pages_of_this_process();
  const Storage small = filled(100 * KiB, 1);
  CHECK(pages_of_this_process().resident <= before.resident + MiB);
  const Storage block = filled(200 * KiB, 1);
  CHECK(pages_of_this_process().resident <= before.resident + 3 * MiB);
}
#endif

TEST_CASE("huge pages: threads allocate and free while others empty the cache") {
  constexpr std::size_t kThreads = 4, kRounds = 300;
  std::vector<int> corrupted(kThreads);
  const auto work = [&](std::size_t id) {
    Storage kept;
    for (std::size_t round = 0; round < kRounds; ++round) {
      const auto value = static_cast<unsigned char>(id * 64 + round % 64);
      const Storage block = filled((130 + 40 * ((round + id) % 7)) * KiB, value);
      if (round % 10 == id) empty_cache();
      if (kept) corrupted[id] += !holds(kept, static_cast<unsigned char>(id * 64 + (round - 1) % 64));
      kept = block;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < kThreads; ++id) threads.emplace_back(work, id);
  for (std::thread& thread : threads) thread.join();
  CHECK(corrupted == std::vector<int>(kThreads));
}

TEST_CASE("huge pages: a forked child has separate regions") {
  std::vector<Storage> blocks = sixty_four();
  CHECK(in_child([&] {
          blocks.resize(10);
          for (const Storage& block : blocks) std::memset(block.data(), 0xEE, MiB);
          empty_cache();
          const Storage more = filled(MiB, 0xDD);
          const bool good = holds(blocks[9], 0xEE) && holds(more, 0xDD);
          blocks.clear();
          empty_cache();
          return good;
        }) == 0);
  for (std::size_t i = 0; i < 64; ++i) CHECK(holds(blocks[i], static_cast<unsigned char>(i)));
}

#ifdef __SANITIZE_ADDRESS__
TEST_CASE("huge pages: AddressSanitizer reports accesses outside a block") {
  std::vector<Storage> blocks = sixty_four();
  for (const Storage& block : blocks) {
    char* const end = static_cast<char*>(block.data()) + MiB;
    CHECK_FALSE(__asan_region_is_poisoned(block.data(), MiB));
    for (std::size_t past = 0; past < 512; ++past) REQUIRE(__asan_address_is_poisoned(end + past));
  }
  char* const given_back = static_cast<char*>(blocks[7].data());
  blocks[7] = Storage();
  CHECK(__asan_address_is_poisoned(given_back));
  empty_cache();
  for (std::size_t at = 0; at < MiB; ++at) REQUIRE(__asan_address_is_poisoned(given_back + at));
}
#endif
