#include "soak.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "gradus/gradus.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

double minutes_given() {
  const char* const given = std::getenv("GRADUS_SOAK_MINUTES");
  return given ? std::atof(given) : 0;
}

std::int64_t entries(const char* folder) { return std::distance(fs::directory_iterator(folder), {}); }

/// In use by malloc; free pages go back to the system.
double heap_in_use() {
#ifdef __GLIBC__
  malloc_trim(0);
#if __GLIBC_PREREQ(2, 33)
  const auto heap = mallinfo2();
  return static_cast<double>(heap.uordblks) + static_cast<double>(heap.hblkhd);
#endif
#endif
  return 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPagesAreTheProgram = false;  // a sanitizer keeps freed memory and the history of accesses
#else
constexpr bool kPagesAreTheProgram = true;
#endif

}  // namespace

Taken Taken::now() {
  empty_cache();
  Taken taken;
  taken.heap = heap_in_use();
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  taken.resident = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  taken.files = entries("/proc/self/fd");
  taken.threads = entries("/proc/self/task");
  taken.tensors = memory_stats().live_bytes;
  taken.nodes = live_nodes();
  return taken;
}

Soak::Soak(std::string name, int rounds, int warm_up)
    : name_(std::move(name)), least_(rounds), warm_up_(warm_up), seconds_(60 * minutes_given()) {}

double Soak::passed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Soak::more() {
  if (rounds_ > 0) measure();
  if (rounds_ >= least_ && passed() >= seconds_) return false;
  ++rounds_;
  return true;
}

void Soak::measure() {
  const bool warming_up = rounds_ < warm_up_ || passed() < std::min(120.0, 0.1 * seconds_);
  if (!first_ && warming_up && rounds_ < least_ + static_cast<int>(seconds_)) return;
  Taken taken = Taken::now();
  if (!first_) {
    first_ = most_ = taken;
    warm_rounds_ = rounds_;
    return;
  }
  // A thread that was joined may still be listed.
  for (int wait = 0; taken.threads > first_->threads && wait < 1000; ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    taken.threads = entries("/proc/self/task");
  }
  most_.resident = std::max(most_.resident, taken.resident);
  most_.heap = std::max(most_.heap, taken.heap);
  CHECK(taken.files == first_->files);
  CHECK(taken.threads <= first_->threads);
  CHECK(taken.tensors == first_->tensors);
  CHECK(taken.nodes == first_->nodes);
  CHECK(taken.heap <= 1.01 * first_->heap + 256 * 1024);
  // In a few rounds the arenas of threads have not reached their size yet.
  const double pages = is_long() ? 2e6 : 8e6;
  if (kPagesAreTheProgram) CHECK(taken.resident <= 1.01 * first_->resident + pages);
  if (is_long() && passed() - said_ > 300) {
    said_ = passed();
    std::printf("soak: %s\n", measured().c_str());
    std::fflush(stdout);
  }
}

std::string Soak::measured() const {
  if (!first_) return name_ + ": nothing was measured";
  const auto memory = [](double first, double most) {
    return fmt::format("{:.2f} MB, at most {:+.2f}% ({:+.0f} KiB)", first / 1e6,
                       100 * (most / std::max(1.0, first) - 1), (most - first) / 1024);
  };
  return fmt::format(
      "{}: {} rounds in {:.1f} minutes, {} of them to warm up; resident {}; heap {}; {} files, {} threads, "
      "{} bytes of "
      "tensors and {} nodes each time",
      name_, rounds_, passed() / 60, warm_rounds_, memory(first_->resident, most_.resident),
      memory(first_->heap, most_.heap), first_->files, first_->threads, first_->tensors, first_->nodes);
}

Soak::~Soak() { MESSAGE(measured()); }

}  // namespace gradus::test
