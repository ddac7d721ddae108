// libFuzzer's part: searches for bytes that break a reader. ./run fuzz READER SECONDS starts it with
//
//   GRADUS_FUZZ=npy            the reader
//   GRADUS_FUZZ_SEEDS=FOLDER   where its first files go
//
// Whatever a reader throws that is not an Error ends the program, as do a sanitizer's finding, more than a
// second for one file, and more memory than the reader may take.

#include <sanitizer/allocator_interface.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include "gradus/core/memory/storage.h"
#include "reliability/reader_lists.h"
#include "reliability/readers.h"
#include "support.h"

namespace {

using namespace gradus;
using namespace gradus::test;

std::atomic<std::size_t> in_use{0}, most{0};

void taken(const volatile void*, std::size_t bytes) {
  const std::size_t now = in_use += bytes;
  if (now > most) most = now;
}
void given_back(const volatile void* memory) {
  if (memory) in_use -= __sanitizer_get_allocated_size(const_cast<const void*>(memory));
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

const Prepared& prepared() {
  static const ScratchFolder scratch;
  static const Prepared one(reader_named(std::getenv("GRADUS_FUZZ")), scratch.path());
  return one;
}

void stop_if(bool bad, const char* what, double value, double limit) {
  if (!bad) return;
  std::fprintf(stderr, "fuzz: %s: %g; the limit is %g\n", what, value, limit);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) try {
  const char* const name = std::getenv("GRADUS_FUZZ");
  if (name == nullptr || *name == '\0') {
    for (const Reader& reader : readers()) std::puts(reader.name.c_str());
    std::exit(0);
  }
  int number = 0;
  if (const char* const folder = std::getenv("GRADUS_FUZZ_SEEDS"))
    for (const std::string& seed : prepared().seeds())
      put(std::filesystem::path(folder) / ("seed-" + std::to_string(++number)), seed);
  __sanitizer_install_malloc_and_free_hooks(taken, given_back);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fuzz: %s\n", error.what());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Prepared& file = prepared();
  file.write({reinterpret_cast<const char*>(data), size});
  const std::size_t before = in_use;
  most = before;
  reset_peak_memory();
  const auto tensors = memory_stats().live_bytes;
  const double start = cpu_seconds();
  file.read();
  const double seconds = cpu_seconds() - start;
  const auto memory =
      static_cast<double>(most - before) + 2.0 * static_cast<double>(memory_stats().peak_bytes - tensors);
  const auto limit = static_cast<double>(file.reader().bytes + file.reader().bytes_per_byte * size);
  stop_if(seconds > 1, "seconds for a file", seconds, 1);
  stop_if(memory > limit, "bytes of memory for a file", memory, limit);
  return 0;
}
