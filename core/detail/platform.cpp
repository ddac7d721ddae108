// The plain system, CPU features, and the choice of system. Linux is in platform_linux.cpp.

#include "gradus/core/detail/platform.h"

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "gradus/core/detail/format.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif
#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

namespace gradus::platform {

#ifdef __linux__
extern const System linux_system;
#endif

namespace {

int plain_cores() {
  if (!kThreads) return 1;
  const unsigned cores = std::thread::hardware_concurrency();  // 0: not known
  return cores == 0 ? 1 : static_cast<int>(cores);
}

std::size_t plain_memory_limit() {
#ifdef _SC_PHYS_PAGES
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && bytes > 0 &&
      static_cast<std::size_t>(pages) < kUnlimited / static_cast<std::size_t>(bytes))
    return static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes);
#endif
  return kUnlimited;
}

std::size_t plain_memory_available() { return kUnlimited; }

int plain_reserve(int, std::uint64_t) { return 0; }

bool plain_is_mount_point(const char*) { return false; }

bool plain_permits_amx() { return false; }

bool plain_says_arm_bf16() { return false; }

std::vector<const void*> plain_calls() { return {}; }

std::vector<SourceLine> plain_source_lines(std::span<const void* const>) { return {}; }

const char* plain_why_no_lines() { return "this system cannot tell where calls come from"; }

}  // namespace

// Constant, like Linux's: memory may be requested before main, in any order.
constinit const System plain{.name = "plain",
                             .cores = plain_cores,
                             .memory_limit = plain_memory_limit,
                             .memory_available = plain_memory_available,
                             .pages = nullptr,
                             .reserve = plain_reserve,
                             .is_mount_point = plain_is_mount_point,
                             .permits_amx = plain_permits_amx,
                             .says_arm_bf16 = plain_says_arm_bf16,
                             .calls = plain_calls,
                             .source_lines = plain_source_lines,
                             .why_no_lines = plain_why_no_lines};

namespace {

const System& choose() {
  const char* const wanted = std::getenv("GRADUS_PLATFORM");
  if (wanted && std::string_view(wanted) == plain.name) return plain;
  check(!wanted || !*wanted,
        "GRADUS_PLATFORM: expected plain, got '{}'; leave it unset for all this system has",
        wanted ? wanted : "");
#ifdef __linux__
  return linux_system;
#else
  return plain;
#endif
}

constinit std::atomic<const System*> in_use = nullptr;

}  // namespace

const System& system() {
  const System* known = in_use.load(std::memory_order_relaxed);
  if (!known)
    in_use.store(known = &choose(), std::memory_order_relaxed);  // threads that meet choose the same
  return *known;
}

bool cpu_has_avx2() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool cpu_has_avx512() {
#if defined(__x86_64__) && defined(__GNUC__)
  return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

bool cpu_has_avx512_bf16() {
#if defined(__x86_64__) && defined(__GNUC__)
  return cpu_has_avx512() && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

#if defined(__x86_64__) && defined(__GNUC__)
namespace {

// By hand: compilers' own names for these are newer than those above.
bool has_amx_bf16() {
  constexpr unsigned bf16 = 1u << 22, tile = 1u << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & bf16) != 0 && (d & tile) != 0;
}

}  // namespace
#endif

bool cpu_has_amx_bf16() {
#if defined(__x86_64__) && defined(__GNUC__)
  static constinit std::atomic<int> known = -1;  // not a lock, which a fork could leave locked in the child
  int has = known.load(std::memory_order_relaxed);
  if (has < 0) {
    has = cpu_has_avx512_bf16() && has_amx_bf16() && system().permits_amx() ? 1 : 0;
    known.store(has, std::memory_order_relaxed);
  }
  return has == 1;
#else
  return false;
#endif
}

bool cpu_has_bfmmla() { return system().says_arm_bf16(); }

bool on_fork([[maybe_unused]] void (*before)(), [[maybe_unused]] void (*in_parent)(),
             [[maybe_unused]] void (*in_child)()) {
#if __has_include(<pthread.h>) && !defined(__EMSCRIPTEN__)
  return pthread_atfork(before, in_parent, in_child) == 0;
#else
  return false;
#endif
}

}  // namespace gradus::platform
