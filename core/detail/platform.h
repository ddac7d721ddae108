#pragma once
// What only some systems and CPUs have, and what stands in for it elsewhere. All other code is C++, with
// POSIX for files.
//
// A system is a table. `plain` needs nothing but C++ and is compiled everywhere; Linux fills in what it does
// better. GRADUS_PLATFORM=plain has a program run on the plain one, as tests do.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace gradus::platform {

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
inline constexpr bool kThreads = false;  // starting one throws
#else
inline constexpr bool kThreads = true;
#endif

/// No page of memory is smaller, and none larger, but for huge ones.
inline constexpr std::size_t kSmallestPage = 4096;
#if defined(__x86_64__) || defined(__i386__)
inline constexpr std::size_t kLargestPage = 4096;
#else
inline constexpr std::size_t kLargestPage = 65536;
#endif

/// As much memory as anyone could ask for: nobody knows the limit.
inline constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max() / 4;

/// Tells the CPU that this is a waiting loop: saves power and leaves the core to its other hardware thread.
inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Whether AVX2 with FMA, and AVX-512 with all that its kernels are compiled for, may be used.
bool cpu_has_avx2();
bool cpu_has_avx512();

/// Memory by pages, huge ones where possible. None of these takes a lock or memory of the program's.
struct Pages {
  /// `bytes` at a multiple of `alignment`, with `lead` bytes before, all three whole kLargestPages; null when
  /// there is no memory.
  char* (*map)(std::size_t bytes, std::size_t alignment, std::size_t lead);
  /// All that was mapped at once: from the first page of its lead on.
  void (*unmap)(char* first, std::size_t bytes);
  /// Gives back the whole pages in [first, end) of a mapping that starts at `mapping`; the addresses stay,
  /// and it has no huge pages from then on.
  void (*give_back)(char* mapping, std::size_t mapped, char* first, char* end);
};

/// Where a call is in the sources.
struct SourceLine {
  std::string function;  // without its parameters
  std::string file;
  int line;
};

struct System {
  const char* name;
  /// How many cores this process may use, 1 or more.
  int (*cores)();
  /// The memory this process can have, and what the machine could give it now without killing anybody.
  std::size_t (*memory_limit)();
  std::size_t (*memory_available)();
  /// Null where large blocks come from malloc, as small ones do.
  const Pages* pages;
  /// Takes disk space for a file that is being written; 0, or errno. A system that cannot do so says 0.
  int (*reserve)(int file, std::uint64_t bytes);
  /// Whether a file cannot be replaced since something is mounted there.
  bool (*is_mount_point)(const char* path);
  /// Addresses of the calls that lead here, innermost first, at most 256; empty where the system cannot tell.
  std::vector<const void*> (*calls)();
  /// Their lines up to main, with those of inlined functions; calls without debug information are left out.
  std::vector<SourceLine> (*source_lines)(std::span<const void* const> calls);
  /// Why source_lines() has no line of the program, with the remedy.
  const char* (*why_no_lines)();
};

extern const System plain;
/// The one in use: this system's own, or GRADUS_PLATFORM=plain from the environment.
const System& system();

/// Has fork() call these; false where there is none, or no memory for it.
bool on_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace gradus::platform
