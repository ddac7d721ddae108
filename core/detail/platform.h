#pragma once
// Features of particular systems and CPUs, and portable fallbacks. All other code is C++, with POSIX for
// files.
//
// A system is a table. `plain` needs only C++ and is compiled everywhere; Linux overrides what it does
// better. GRADUS_PLATFORM=plain runs a program on the plain one, as tests do.

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

/// The smallest and largest page sizes, except for huge pages.
inline constexpr std::size_t kSmallestPage = 4096;
#if defined(__x86_64__) || defined(__i386__)
inline constexpr std::size_t kLargestPage = 4096;
#else
inline constexpr std::size_t kLargestPage = 65536;
#endif

/// No known memory limit.
inline constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max() / 4;

/// Tells the CPU that this is a wait loop: saves power and yields the core to its other hardware thread.
inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Whether AVX2 with FMA, and AVX-512 with all extensions its kernels use, are available.
bool cpu_has_avx2();
bool cpu_has_avx512();
bool cpu_has_avx512_bf16();  // and avx512
bool cpu_has_amx_bf16();     // and those; the first call asks the system to permit AMX to this process
/// Whether this CPU is one of ARM that multiplies bf16 (FEAT_BF16), as far as the system says so.
bool cpu_has_bfmmla();

/// Memory in pages, huge ones where possible. None of these locks or allocates.
struct Pages {
  /// `bytes` at a multiple of `alignment`, with `lead` bytes before, all three whole kLargestPages; null when
  /// there is no memory.
  char* (*map)(std::size_t bytes, std::size_t alignment, std::size_t lead);
  /// Takes a whole mapping, from the first page of its lead on.
  void (*unmap)(char* first, std::size_t bytes);
  /// Frees the whole pages in [first, end) of a mapping that starts at `mapping`; it keeps its addresses but
  /// has no huge pages from then on.
  void (*give_back)(char* mapping, std::size_t mapped, char* first, char* end);
};

/// Source location of a call.
struct SourceLine {
  std::string function;  // without its parameters
  std::string file;
  int line;
};

struct System {
  const char* name;
  /// How many cores this process may use, 1 or more.
  int (*cores)();
  /// The memory limit of this process, and what is available now without killing another process.
  std::size_t (*memory_limit)();
  std::size_t (*memory_available)();
  /// Null if large blocks come from malloc, as small ones do.
  const Pages* pages;
  /// Reserves disk space for a file being written; 0, or errno. Returns 0 if unsupported.
  int (*reserve)(int file, std::uint64_t bytes);
  /// Whether a file cannot be replaced because something is mounted there.
  bool (*is_mount_point)(const char* path);
  /// Whether this process may use the registers of AMX, which systems give only to those that ask.
  bool (*permits_amx)();
  /// Whether it says that this CPU has ARM's FEAT_BF16.
  bool (*says_arm_bf16)();
  /// Addresses of the calls that lead here, innermost first, at most 256; empty if unsupported.
  std::vector<const void*> (*calls)();
  /// Their lines up to main, including inlined functions; calls without debug information are omitted.
  std::vector<SourceLine> (*source_lines)(std::span<const void* const> calls);
  /// Why source_lines() has no line of the program, with the remedy.
  const char* (*why_no_lines)();
};

extern const System plain;
/// The one in use: this system's own, or GRADUS_PLATFORM=plain from the environment.
const System& system();

/// Registers these with fork(); false if there is no fork(), or no memory.
bool on_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace gradus::platform
