// Linux's part of platform.h: /proc, control groups, affinity, huge pages, space for files; and the main
// thread's stack.

#ifdef __linux__

#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <span>
#include <string_view>

#include "gradus/core/detail/platform.h"

namespace gradus::platform {

// In platform_linux_calls.cpp.
std::vector<const void*> linux_calls();
std::vector<SourceLine> linux_source_lines(std::span<const void* const> calls);
const char* linux_why_no_lines();

namespace {

int cores() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  // Fails only on machines with more than CPU_SETSIZE (1024) cores.
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return plain.cores();
  return CPU_COUNT(&mine);
}

/// The beginning of a system file, by plain calls, which allocate nothing: memory may have run out.
std::string_view beginning_of(const char* path, std::span<char> buffer) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = read(file, buffer.data(), buffer.size());
  close(file);
  return {buffer.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

/// The number a text begins with, after blanks; without one, no limit.
std::size_t number_in(std::string_view text) {
  std::size_t number = kUnlimited;
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::min(number, kUnlimited);
}

/// A line of /proc/meminfo, in bytes.
std::size_t meminfo(std::string_view name) {
  char buffer[4096];
  const std::string_view text = beginning_of("/proc/meminfo", buffer);
  const std::size_t line = text.find(name);
  if (line == text.npos) return kUnlimited;
  return std::min(number_in(text.substr(line + name.size())), kUnlimited / 1024) * 1024;
}

std::size_t memory_limit() {
  char buffer[64];
  const std::string_view group = beginning_of("/sys/fs/cgroup/memory.max", buffer);
  return std::min(meminfo("MemTotal:") + meminfo("SwapTotal:"), number_in(group));  // "max": no limit
}

std::size_t memory_available() { return meminfo("MemAvailable:") + meminfo("SwapFree:"); }

char* map(std::size_t bytes, std::size_t alignment, std::size_t lead) {
  const std::size_t length = lead + bytes;  // of a mapping with room to move its start
  void* const mapping =
      mmap(nullptr, length + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(mapping);
  const std::size_t past_boundary = (reinterpret_cast<std::uintptr_t>(first) + lead) % alignment;
  const std::size_t before = past_boundary == 0 ? 0 : alignment - past_boundary;
  if (before > 0) munmap(first, before);
  munmap(first + before + length, alignment - before);
  char* const aligned = first + before + lead;
  madvise(aligned, bytes, MADV_HUGEPAGE);  // a hint: otherwise ordinary pages are used
  return aligned;
}

void unmap(char* first, std::size_t bytes) { munmap(first, bytes); }

void give_back(char* mapping, std::size_t mapped, char* first, char* end) {
  // Without the first call the system, tidying up, would make the hole part of a huge page again.
  madvise(mapping, mapped, MADV_NOHUGEPAGE);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto from = (reinterpret_cast<std::uintptr_t>(first) + page - 1) / page * page;
  const auto to = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
}

constinit const Pages pages{.map = map, .unmap = unmap, .give_back = give_back};

int reserve(int file, std::uint64_t bytes) {
  while (fallocate(file, 0, 0, static_cast<off_t>(bytes)) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

bool is_mount_point([[maybe_unused]] const char* path) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx more = {};  // one file of a host in a container, for example
  return statx(AT_FDCWD, path, 0, STATX_TYPE, &more) == 0 &&
         (more.stx_attributes & more.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  return false;
#endif
}

/// For all threads, and those of children; an older kernel, or one that filters calls, refuses.
bool permits_amx() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr long request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request, tile_data) == 0;
#else
  return false;
#endif
}

bool says_arm_bf16() {
#ifdef __aarch64__
  constexpr unsigned long bf16 = 1ul << 14;  // HWCAP2_BF16, newer than some headers
  return (getauxval(AT_HWCAP2) & bf16) != 0;
#else
  return false;
#endif
}

constexpr std::size_t kStack = std::size_t{1} << 20;

[[gnu::noinline]] bool touch_stack() {
  volatile char stack[kStack];
  stack[0] = 1;
  return stack[0] == 1;
}

/// The main thread's stack grows as it is used. Products keep blocks there; under an address-space limit
/// (ulimit -v) arrays could leave it no room to grow, and the first product would crash the program. So it is
/// grown when the library is loaded: that takes addresses, and one page of memory.
bool grow_stack() {
  rlimit limit{};
  return getpid() == gettid() && getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= 4 * kStack &&
         touch_stack();
}
[[maybe_unused]] const bool stack_has_grown = grow_stack();

}  // namespace

extern const System linux_system;
constinit const System linux_system{.name = "linux",
                                    .cores = cores,
                                    .memory_limit = memory_limit,
                                    .memory_available = memory_available,
                                    .pages = &pages,
                                    .reserve = reserve,
                                    .is_mount_point = is_mount_point,
                                    .permits_amx = permits_amx,
                                    .says_arm_bf16 = says_arm_bf16,
                                    .calls = linux_calls,
                                    .source_lines = linux_source_lines,
                                    .why_no_lines = linux_why_no_lines};

}  // namespace gradus::platform

#endif
