#include "failing_new.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/tape/autograd.h"

namespace {

thread_local int left = -1;  // before the one that fails; -1: none does
thread_local bool stays = false, met = false;

std::atomic<std::size_t> in_use{0}, most_in_use{0};

bool fails() {
  if (left < 0) return false;
  if (left > 0) return --left, false;
  met = true;
  if (!stays) left = -1;
  return true;
}

template <class Take>
void* take_memory(Take take) {
  for (;;) {
    if (!fails())
      if (void* const memory = take()) {
        const std::size_t now = in_use += malloc_usable_size(memory);
        if (now > most_in_use) most_in_use = now;
        return memory;
      }
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

void give_memory_back(void* memory) {
  in_use -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

// Not inlined: the compiler would see malloc() paired with delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return take_memory([=] { return std::malloc(bytes ? bytes : 1); });
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return take_memory([=] { return std::aligned_alloc(step, (bytes + step - 1) / step * step); });
}
// A sanitizer would else serve this one by itself, and find its memory given back to another.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept try {
  return operator new(bytes);
} catch (...) {
  return nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { give_memory_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { give_memory_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { give_memory_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_memory_back(memory);
}

namespace gradus::test {

void take_and_give_back() {
  void* volatile memory = ::operator new(100);  // volatile: else the compiler does without
  ::operator delete(memory);
}

std::size_t taken() { return in_use; }
std::size_t most_taken() { return most_in_use; }
void reset_most_taken() { most_in_use = in_use.load(); }

FailingNew::FailingNew(int others, bool for_good) {
  stays = for_good;
  met = false;
  left = others;
}
FailingNew::~FailingNew() { left = -1; }
bool FailingNew::struck() const { return met; }

void must(bool right) {
  if (!right) throw std::logic_error("a wrong result");
}

int with_every_allocation_failing(Call prepare, Call f, int all) {
  { const Storage first = Storage::allocate(1); }  // from here on the library sees to operator new
  int errors = 0;
  for (const bool for_good : {false, true}) {
    bool struck = true;
    for (int n = 0; struck; n += n < all ? 1 : 1 + n / 50) {
      prepare();
      const std::int64_t live = memory_stats().live_bytes, nodes = live_nodes();
      std::string other;
      bool threw = false;
      {
        const FailingNew armed(n, for_good);
        try {
          f();
        } catch (const Error&) {
          threw = true;
        } catch (const std::exception& error) {
          left = -1;
          other = error.what();
        }
        struck = armed.struck();
      }
      CAPTURE(n);
      CAPTURE(for_good);
      REQUIRE(other == "");
      REQUIRE(memory_stats().live_bytes == live);
      REQUIRE(live_nodes() == nodes);
      errors += threw;
      if (!struck) REQUIRE_FALSE(threw);
      REQUIRE(n < 1'000'000);
    }
  }
  return errors;
}

int all_or_nothing(Call prepare, Call change, Call unchanged) {
  { const Storage first = Storage::allocate(1); }
  int errors = 0;
  for (const bool for_good : {false, true}) {
    bool struck = true;
    for (int n = 0; struck; ++n) {
      prepare();
      empty_cache();
      bool threw = false;
      {
        const FailingNew armed(n, for_good);
        try {
          change();
        } catch (const Error&) {
          threw = true;
        }
        struck = armed.struck();
      }
      CAPTURE(n);
      CAPTURE(for_good);
      if (threw) CHECK_NOTHROW(unchanged());
      if (!struck) REQUIRE_FALSE(threw);
      errors += threw;
      REQUIRE(n < 100'000);
    }
  }
  return errors;
}

}  // namespace gradus::test
