#include "gradus/core/memory/storage.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gradus/core/detail/platform.h"
#include "gradus/core/error.h"
#include "in_child.h"
#include "poison_guard.h"
#include "support.h"

using namespace gradus;
using test::in_child;
using test::PoisonGuard;

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

std::size_t address(const Storage& storage) { return reinterpret_cast<std::size_t>(storage.data()); }

unsigned char* bytes_of(const Storage& storage) { return static_cast<unsigned char*>(storage.data()); }

/// Bytes the allocator counts as live for a request.
std::int64_t held_for(std::size_t bytes) {
  const std::int64_t before = memory_stats().live_bytes;
  const Storage storage = Storage::allocate(bytes);
  return memory_stats().live_bytes - before;
}

std::string message_of(std::size_t bytes) {
  try {
    Storage::allocate(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Freed after main, when the destructors of other static objects have run.
Storage global_storage = Storage::allocate(1000);
thread_local Storage thread_storage;

}  // namespace

TEST_CASE("storage: blocks are aligned, writable to their last byte and distinct") {
  std::vector<Storage> blocks;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{512},
        std::size_t{513}, std::size_t{4096}, std::size_t{100'000}, MiB, 2 * MiB - 1, 2 * MiB, 2 * MiB + 1,
        5 * MiB + 7, 64 * MiB}) {
    CAPTURE(bytes);
    const Storage block = Storage::allocate(bytes);
    CHECK(block.bytes() == bytes);
    CHECK(address(block) % 64 == 0);
    if (bytes >= 2 * MiB && platform::system().pages) CHECK(address(block) % (2 * MiB) == 0);
    std::memset(block.data(), static_cast<int>(blocks.size()), bytes);
    blocks.push_back(block);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const unsigned char* const first = bytes_of(blocks[i]);
    CHECK(std::all_of(first, first + blocks[i].bytes(), [i](unsigned char byte) { return byte == i; }));
  }
}

TEST_CASE("storage: rounding wastes at most an eighth") {
  CHECK(held_for(0) == 64);
  CHECK(held_for(1) == 64);
  CHECK(held_for(65) == 128);
  CHECK(held_for(512) == 512);
  CHECK(held_for(513) == 576);
  CHECK(held_for(4096) == 4096);
  CHECK(held_for(4097) == 4608);
  empty_cache();
  for (std::size_t bytes = 512; bytes < 8 * MiB; bytes += bytes / 13 + 1) {
    CAPTURE(bytes);
    const std::int64_t held = held_for(bytes);
    CHECK(held >= static_cast<std::int64_t>(bytes));
    CHECK(held - static_cast<std::int64_t>(bytes) <= static_cast<std::int64_t>(bytes / 8));
    empty_cache();  // else a mapped block up to a quarter larger may be reused
  }
}

TEST_CASE("storage: handles share a block until the last one is destroyed") {
  const MemoryStats before = memory_stats();
  {
    Storage a = Storage::allocate(100);
    CHECK(a.unique());
    CHECK(a.version() == 0);
    Storage b = a;
    CHECK(a == b);
    CHECK_FALSE(a.unique());
    b.bump_version();
    CHECK(a.version() == 1);
    a = Storage();
    CHECK_FALSE(static_cast<bool>(a));
    CHECK(b.unique());
    const Storage c = std::move(b);
    CHECK(c.unique());
    CHECK(memory_stats().live_blocks == before.live_blocks + 1);
  }
  CHECK(memory_stats().live_blocks == before.live_blocks);
  CHECK(memory_stats().live_bytes == before.live_bytes);
  CHECK(Storage::allocate(100).version() == 0);
}

TEST_CASE("storage: freed blocks are used again without the system") {
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{5000}, 3 * MiB}) {
    CAPTURE(bytes);
    const void* first = Storage::allocate(bytes).data();
    const MemoryStats before = memory_stats();
    CHECK(Storage::allocate(bytes).data() == first);
    const MemoryStats after = memory_stats();
    CHECK(after.total_allocations == before.total_allocations + 1);
    CHECK(after.system_allocations == before.system_allocations);
    CHECK(after.cached_bytes == before.cached_bytes);
  }
}

TEST_CASE("storage: a mapped block serves a request up to a quarter smaller") {
  empty_cache();
  const void* first = Storage::allocate(20 * MiB).data();
  CHECK(Storage::allocate(17 * MiB).data() == first);
  CHECK(Storage::allocate(15 * MiB).data() != first);
}

TEST_CASE("storage: statistics") {
  empty_cache();
  const MemoryStats before = memory_stats();
  CHECK(before.cached_bytes == 0);
  reset_peak_memory();
  CHECK(memory_stats().peak_bytes == before.live_bytes);
  {
    const Storage a = Storage::allocate(1024);
    { const Storage b = Storage::allocate(4 * MiB); }
    const MemoryStats now = memory_stats();
    CHECK(now.live_bytes == before.live_bytes + 1024);
    CHECK(now.live_blocks == before.live_blocks + 1);
    CHECK(now.cached_bytes == 4 * static_cast<std::int64_t>(MiB));
    CHECK(now.peak_bytes == before.live_bytes + 1024 + 4 * static_cast<std::int64_t>(MiB));
    CHECK(now.total_allocations == before.total_allocations + 2);
    CHECK(now.system_allocations == before.system_allocations + 2);
  }
  CHECK(memory_stats().cached_bytes == 1024 + 4 * static_cast<std::int64_t>(MiB));
  reset_peak_memory();
  CHECK(memory_stats().peak_bytes == before.live_bytes);
  empty_cache();
  CHECK(memory_stats().cached_bytes == 0);
}

TEST_CASE("storage: impossible sizes are rejected") {
  empty_cache();
  const std::int64_t live = memory_stats().live_bytes;
  REQUIRE(live < 1024 * 1024);
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  constexpr int digits = std::numeric_limits<std::size_t>::digits;  // 32 in the browser
  const auto two_to = [](int exponent) { return std::size_t{1} << exponent; };
  if (digits == 64) {
    CHECK(message_of(most).starts_with("storage: cannot allocate 16.0 EiB (live "));
    CHECK(message_of(two_to(50)).starts_with("storage: cannot allocate 1.0 PiB (live "));
    CHECK(message_of(two_to(50) / 10).starts_with("storage: cannot allocate 102.4 TiB (live "));
  } else {
    CHECK(message_of(most).starts_with("storage: cannot allocate 4.0 GiB (live "));
  }
  CHECK(message_of(most).find(", cached 0 B): this machine has ") != std::string::npos);
  CHECK(memory_stats().live_bytes == live);
  for (int bits = 47; bits < digits; ++bits) CHECK_THROWS_AS(Storage::allocate(two_to(bits) - 1), Error);

  // One by one, Linux would grant them all as long as they are not written. A browser has no 1 GiB in one.
  const std::size_t block = (digits == 64 ? 1024 : 512) * MiB;
  const PoisonGuard off(false);
  std::vector<Storage> blocks;
  std::string message;
  while (message.empty()) try {
      blocks.push_back(Storage::allocate(block));
    } catch (const Error& error) {
      message = error.what();
    }
  INFO(message);
  CHECK(message.starts_with(digits == 64 ? "storage: cannot allocate 1.0 GiB (live "
                                         : "storage: cannot allocate 512.0 MiB (live "));
  CHECK(message.ends_with(", cached 0 B): the system is out of memory"));
  blocks.clear();
  CHECK(memory_stats().live_bytes == live);
  empty_cache();
}

// In a child process whose address space may not grow: a failed mapping empties the cache and tries again.
TEST_CASE("storage: the cache is emptied before a request fails") {
  CHECK(in_child([] {
          { const Storage cached = Storage::allocate(512 * MiB); }
          std::size_t pages = 0;
          std::ifstream("/proc/self/statm") >> pages;
          const std::size_t most = pages * 4096 + 32 * MiB;
          const rlimit limit{most, most};
          bool good = setrlimit(RLIMIT_AS, &limit) == 0;
          good = good && Storage::allocate(400 * MiB) && memory_stats().cached_bytes < 512 * 1024 * 1024;
          const std::string message = message_of(2048 * MiB);
          return good && message.starts_with("storage: cannot allocate 2.0 GiB (live ") &&
                 message.ends_with("): the system is out of memory");
        }) == 0);
}

TEST_CASE("storage: poison fills fresh and freed blocks with NaN") {
  const auto filled_with = [](const Storage& storage, unsigned char byte) {
    return std::all_of(bytes_of(storage), bytes_of(storage) + storage.bytes(),
                       [byte](unsigned char each) { return each == byte; });
  };
  for (const std::size_t bytes : {std::size_t{24}, std::size_t{8000}, 2 * MiB}) {
    CAPTURE(bytes);
    const PoisonGuard off(false);
    {
      const Storage block = Storage::allocate(bytes);
      std::memset(block.data(), 7, bytes);
    }
    CHECK(filled_with(Storage::allocate(bytes), 7));
    {
      const PoisonGuard on(true);
      CHECK(memory_poison());
      const Storage block = Storage::allocate(bytes);
      CHECK(filled_with(block, 0xFF));
      std::memset(block.data(), 7, bytes);
    }
    CHECK_FALSE(memory_poison());
    {
      const Storage block = Storage::allocate(bytes);
      std::memset(block.data(), 7, bytes);
      set_memory_poison(true);  // while the block is freed only
    }
    set_memory_poison(false);
    CHECK(filled_with(Storage::allocate(bytes), 0xFF));
  }
}

TEST_CASE("child: print whether memory is poisoned" * doctest::skip()) {
  std::printf("<<%s>>\n", memory_poison() ? "poison" : "none");
}

TEST_CASE("storage: GRADUS_POISON=1 poisons memory from the start") {
  const auto starts = [](const std::string& environment) {
    return test::output_of_child(environment, "child: print whether memory is poisoned");
  };
  CHECK(starts("GRADUS_POISON=1").find("<<poison>>") != std::string::npos);
  CHECK(starts("GRADUS_POISON=0").find("<<none>>") != std::string::npos);
  CHECK(starts("env -u GRADUS_POISON").find("<<none>>") != std::string::npos);
}

TEST_CASE("storage: threads allocate, hand over and free") {
  const MemoryStats before = memory_stats();
  constexpr std::size_t kThreads = 4, kRounds = 3000;
  std::vector<Storage> shelf(16);  // blocks left by one thread are freed by another
  std::mutex shelf_mutex;
  std::vector<int> corrupted(kThreads);
  const auto work = [&](std::size_t id) {
    for (std::size_t round = 0; round < kRounds; ++round) {
      const std::size_t bytes = 1 + (round * 37 + id * 101) % 3000;
      Storage block = Storage::allocate(bytes);
      std::memset(block.data(), static_cast<int>(id), bytes);
      const Storage shared = block;
      {
        const std::lock_guard lock(shelf_mutex);
        std::swap(block, shelf[(round + 5 * id) % shelf.size()]);
      }
      corrupted[id] +=
          !std::all_of(bytes_of(shared), bytes_of(shared) + bytes, [id](auto byte) { return byte == id; });
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < kThreads; ++id) threads.emplace_back(work, id);
  for (std::thread& thread : threads) thread.join();
  CHECK(corrupted == std::vector<int>(kThreads));
  CHECK(memory_stats().live_blocks == before.live_blocks + 16);
  CHECK(memory_stats().total_allocations ==
        before.total_allocations + static_cast<std::int64_t>(kThreads * kRounds));
  shelf.clear();
  CHECK(memory_stats().live_blocks == before.live_blocks);
  CHECK(memory_stats().live_bytes == before.live_bytes);
}

TEST_CASE("storage: memory may outlive the thread and main") {
  std::thread([] { thread_storage = Storage::allocate(500); }).join();
  thread_storage = Storage::allocate(500);
  CHECK(global_storage.bytes() == 1000);
}
