// Fallbacks for systems and CPUs with fewer features: the plain system is tested here and by ctest's
// core.plain, which runs all of core's tests on it.

#include "gradus/core/detail/platform.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "gradus/core/threads/parallel.h"
#include "gradus/ops/ops.h"
#include "support.h"

using namespace gradus;

namespace {

bool on_plain() { return &platform::system() == &platform::plain; }

std::string output_of(const std::string& environment, const std::string& test_case) {
  const std::string output = test::output_of_child(environment, test_case);
  const std::size_t begin = output.find("<<") + 2;
  return output.substr(begin, output.find(">>", begin) - begin);
}

}  // namespace

TEST_CASE("platform: the plain system works, and uses no feature that it does not have") {
  const platform::System& plain = platform::plain;
  CHECK(plain.name == std::string("plain"));
  CHECK(plain.cores() >= 1);
  CHECK(plain.cores() == static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  CHECK(plain.memory_limit() >= std::size_t{64} << 20);
  CHECK(plain.memory_limit() <= platform::kUnlimited);
  CHECK(plain.memory_available() == platform::kUnlimited);
  CHECK(plain.memory_available() + plain.memory_available() > plain.memory_available());  // no overflow
  CHECK(plain.pages == nullptr);
  CHECK(plain.reserve(-1, 1000) == 0);
  CHECK_FALSE(plain.is_mount_point("/proc"));
  CHECK_FALSE(plain.permits_amx());
  CHECK_FALSE(plain.says_arm_bf16());
}

TEST_CASE("platform: this system's answers lie within the plain one's") {
  const platform::System& own = platform::system();
  CHECK(own.cores() >= 1);
  CHECK(own.cores() <= platform::plain.cores());
  CHECK(own.memory_limit() >= std::size_t{64} << 20);
  CHECK(own.memory_available() <= platform::kUnlimited);
  CHECK(platform::kSmallestPage <= platform::kLargestPage);
}

TEST_CASE("platform: pages are at the requested address, and read as zero after they are returned") {
  const platform::Pages* const pages = platform::system().pages;
  if (!pages) return;
  constexpr std::size_t kPage = platform::kLargestPage, kBytes = 32 * kPage,
                        kAlignment = std::size_t{2} << 20;
  char* const first = pages->map(kBytes, kAlignment, kPage);
  REQUIRE(first != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % kAlignment == 0);
  std::memset(first - kPage, 7, kPage + kBytes);                                      // the lead is ours too
  pages->give_back(first, kBytes, first + 2 * kPage - 100, first + 5 * kPage + 100);  // whole pages alone
  CHECK(first[2 * kPage - 1] == 7);
  CHECK(first[2 * kPage] == 0);
  CHECK(first[5 * kPage - 1] == 0);
  CHECK(first[5 * kPage] == 7);
  CHECK(first[kBytes - 1] == 7);
  pages->unmap(first - kPage, kPage + kBytes);
  CHECK(pages->map(std::numeric_limits<std::size_t>::max() / 2, kAlignment, 0) == nullptr);
}

TEST_CASE("platform: reserves space for a file") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "file").string();
  std::FILE* const file = std::fopen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  CHECK(platform::system().reserve(fileno(file), 12'345) == 0);
  if (!on_plain()) CHECK(platform::system().reserve(-1, 12'345) == EBADF);
  std::fclose(file);
  if (!on_plain()) CHECK(std::filesystem::file_size(path) == 12'345);
  CHECK_FALSE(platform::system().is_mount_point(path.c_str()));
}

TEST_CASE("child: print the platform" * doctest::skip()) {
  try {
    std::printf("<<%s>>", platform::system().name);
  } catch (const std::exception& error) {
    std::printf("<<%s>>", error.what());
  }
}

TEST_CASE("GRADUS_PLATFORM chooses the plain system") {
  const std::string own = output_of("env -u GRADUS_PLATFORM", "child: print the platform");
  CHECK(output_of("GRADUS_PLATFORM=plain", "child: print the platform") == "plain");
  CHECK(output_of("GRADUS_PLATFORM=", "child: print the platform") == own);
#ifdef __linux__
  CHECK(own == "linux");
#else
  CHECK(own == "plain");
#endif
}

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_CASE("child: a training step in one thread with large blocks" * doctest::skip()) {
  const std::size_t before = threads_of_this_process();  // OpenBLAS starts its own when it is loaded
  Tensor w = full({1024, 1024}, 0.25);
  w.requires_grad_();
  matmul(full({1024, 1024}, 0.5), w).sum().backward();
  std::printf("<<%s: %zu started, %.0f>>", platform::system().name, threads_of_this_process() - before,
              w.grad().select(0, 3).select(0, 4).item());
}

TEST_CASE("platform: with one thread none is started, on the plain system too") {
  const std::string child = "child: a training step in one thread with large blocks";
  CHECK(output_of("GRADUS_NUM_THREADS=1 GRADUS_PLATFORM=plain", child) == "plain: 0 started, 512");
  CHECK(output_of("GRADUS_NUM_THREADS=3 GRADUS_PLATFORM=plain", child) == "plain: 2 started, 512");
#ifdef __linux__
  CHECK(output_of("GRADUS_NUM_THREADS=1 GRADUS_PLATFORM=", child) == "linux: 0 started, 512");
#endif
}

TEST_CASE("child: a loop where no thread can be started" * doctest::skip()) {
  set_num_threads(4);
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_AS, &none);  // no memory for a stack
  bool refused = false;
  try {
    std::thread([] {}).join();
  } catch (const std::system_error&) {
    refused = true;
  }
  std::atomic<std::int64_t> sum = 0;
  parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) sum += i;
  });
  setrlimit(RLIMIT_AS, &before);
  std::printf("<<%s, %d>>", refused ? "refused" : "started", static_cast<int>(sum));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which need addresses of their own
TEST_CASE("platform: if no thread can be started, this one does all work") {
  // A fresh process: one that has had threads keeps their stacks.
  CHECK(output_of("", "child: a loop where no thread can be started") == "refused, 499500");
}
#endif
