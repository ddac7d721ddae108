// Every reader meets damaged files: it reads them or throws Error, in proportional memory, within a second.
// Other damage every time: the seed is printed, and GRADUS_SEED=7 repeats it; GRADUS_FUZZ_INPUTS=100000 tries
// as many files a reader. libFuzzer searches further (fuzz.cpp). A file that breaks a reader goes into
// corpus/READER/.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <random>

#include "failing_new.h"
#include "gradus/core/memory/storage.h"
#include "reliability/reader_lists.h"
#include "reliability/readers.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

/// Keeps what programs say, such as --help, out of the results of the tests.
class Silence {
 public:
  Silence() : out_(dup(1)), err_(dup(2)) {
    std::fflush(nullptr);
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, 1);
    dup2(nothing, 2);
    close(nothing);
  }
  ~Silence() {
    std::cout.flush();
    std::fflush(nullptr);
    dup2(out_, 1);
    dup2(err_, 2);
    close(out_);
    close(err_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int out_, err_;
};

/// Changes files at random, a little at a time.
class Damage {
 public:
  Damage(std::vector<std::string> files, std::uint64_t seed) : files_(std::move(files)), random_(seed) {}

  std::string next() {
    std::string bytes = files_[below(files_.size())];
    for (std::size_t i = 1 + below(4); i > 0; --i) change(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

  void change(std::string& bytes) {
    static const std::vector<std::string> words = {"0",
                                                   "-1",
                                                   "1e400",
                                                   "9223372036854775807",
                                                   "18446744073709551616",
                                                   "0.5",
                                                   "nan",
                                                   "null",
                                                   "true",
                                                   "\"",
                                                   "\"\"",
                                                   "[",
                                                   "]",
                                                   "{",
                                                   "}",
                                                   ",",
                                                   ":",
                                                   "[[",
                                                   "{}",
                                                   "\\",
                                                   "\\u0000",
                                                   "\\ud800",
                                                   "\n",
                                                   "\r\n",
                                                   "\t",
                                                   " ",
                                                   "../",
                                                   "/",
                                                   std::string(1, '\0'),
                                                   std::string(8, '\xff'),
                                                   "\xc0\x80",
                                                   "\xed\xa0\x80",
                                                   "\x1b[2J",
                                                   "\xef\xbb\xbf"};
    static const std::uint64_t numbers[] = {
        0, 1, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, ~0ULL};
    const std::size_t at = below(bytes.size() + 1);
    switch (below(8)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes.erase(at, below(20));
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size()), below(40)));
        break;
      case 4:
        bytes.insert(at, words[below(words.size())]);
        break;
      case 5: {
        const std::string& word = words[below(words.size())];
        bytes.replace(at, std::min(word.size(), bytes.size() - at), word);
        break;
      }
      case 6:
        bytes.resize(at);
        break;
      default: {
        const std::uint64_t number = numbers[below(std::size(numbers))];
        for (std::size_t i = 0, width = 1U << below(4); i < width && at + i < bytes.size(); ++i)
          bytes[at + i] = static_cast<char>(number >> (8 * i));
      }
    }
  }

  std::vector<std::string> files_;
  std::mt19937_64 random_;
};

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// In how many bytes for each byte beyond reader.bytes the file is read; checks the limits.
double read_within_limits(const Prepared& file, const std::string& bytes) {
  file.write(bytes);
  const std::size_t before = taken();
  reset_most_taken();
  reset_peak_memory();
  const std::int64_t tensors = memory_stats().live_bytes;
  const double start = cpu_seconds();
  std::string other;
  {
    const Silence silence;
    try {
      file.read();
    } catch (const std::exception& error) {
      other = error.what();
    }
  }
  const double seconds = cpu_seconds() - start;
  const std::size_t memory =
      most_taken() - before + 2 * static_cast<std::size_t>(memory_stats().peak_bytes - tensors);
  const Reader& reader = file.reader();
  CAPTURE(bytes);
  CHECK(other == "");
  CHECK(seconds < 1);
  CHECK(memory <= reader.bytes + reader.bytes_per_byte * bytes.size());
  CHECK(memory_stats().live_bytes == tensors);
  return memory < reader.bytes
             ? 0
             : static_cast<double>(memory - reader.bytes) / static_cast<double>(bytes.size() + 1);
}

std::vector<std::string> past_failures(const std::string& reader) {
  std::vector<std::string> all;
  const fs::path folder = source_file("tests/reliability/corpus") / reader;
  if (!fs::exists(folder)) return all;
  for (const auto& entry : fs::directory_iterator(folder)) all.push_back(bytes_of(entry.path()));
  return all;
}

}  // namespace

TEST_CASE("readers: whole files are read") {
  for (const Reader& reader : readers()) {
    const ScratchFolder folder;
    const Prepared file(reader, folder.path());
    REQUIRE(!file.seeds().empty());
    int read = 0;
    for (const std::string& seed : file.seeds()) {
      file.write(seed);
      const Silence silence;
      read += file.read();
    }
    CAPTURE(reader.name);
    CHECK(read == static_cast<int>(file.seeds().size()));
  }
}

TEST_CASE("readers: files that once broke one, and files damaged at random") {
  const std::uint64_t inputs = number_or("GRADUS_FUZZ_INPUTS", 1000), seed = seed_of_this_run();
  MESSAGE(inputs << " files a reader; to repeat: GRADUS_FUZZ_INPUTS=" << inputs << " GRADUS_SEED=" << seed);
  for (const Reader& reader : readers()) {
    CAPTURE(reader.name);
    const ScratchFolder folder;
    const Prepared file(reader, folder.path());
    for (const std::string& bytes : past_failures(reader.name)) read_within_limits(file, bytes);
    Damage damage(file.seeds(), seed);
    double most = 0;
    for (std::uint64_t i = 0; i < inputs; ++i) most = std::max(most, read_within_limits(file, damage.next()));
    if (inputs > 1000)
      MESSAGE(reader.name << ": " << inputs << " files, at most " << most << " bytes of memory a byte");
  }
}

TEST_CASE("readers: any allocation may fail") {
  for (const Reader& reader : readers()) {
    if (reader.needs_memory) continue;
    CAPTURE(reader.name);
    const ScratchFolder folder;
    const Prepared file(reader, folder.path());
    file.write(file.seeds().front());
    const auto read = [&] {
      const Silence silence;
      reader.read(folder.path());
    };
    read();  // what is made once is made
    CHECK(with_every_allocation_failing([] { empty_cache(); }, read, 30) > 0);
  }
}

}  // namespace gradus::test
