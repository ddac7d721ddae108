// A program that saves all the time is killed at any moment: what it saved is whole. Checkpoints:
// core/io/checkpoint_files_test.cpp. GRADUS_KILLS=1000 kills as often.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "call.h"
#include "gradus/core/error.h"
#include "gradus/core/io/checkpoint_files.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/run_log.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/nn/module/init.h"
#include "reliability/reader_lists.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

/// Kills a child that calls save(1), save(2), ...; then calls check().
template <class Save>
void with_kills(const Save& save, Call check) {
  const char* const given = std::getenv("GRADUS_KILLS");
  const int kills = given ? std::atoi(given) : 20;
  std::mt19937 random(3);
  for (int kill_number = 0; kill_number < kills; ++kill_number) {
    int started[2];
    REQUIRE(pipe(started) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (int i = 1;; ++i) {
        save(i);
        if (i == 1 && ::write(started[1], "x", 1) != 1) _exit(1);
      }
    }
    char byte = 0;
    REQUIRE(read(started[0], &byte, 1) == 1);
    usleep(static_cast<useconds_t>(random() % 5000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(started[0]);
    close(started[1]);
    CAPTURE(kill_number);
    check();
  }
  MESSAGE(kills << " kills");
}

bool all_equal(const std::vector<double>& values) {
  return std::count(values.begin(), values.end(), values.at(0)) == static_cast<std::ptrdiff_t>(values.size());
}

}  // namespace

TEST_CASE("kills: a checkpoint that was there stays, and the newest is whole") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "run";
  save_checkpoint(folder, {{"w", full({1000}, 0)}});
  double last = 0;
  with_kills(
      [&](int i) {
        save_checkpoint(folder, {{"w", full({1000}, last + i)}});
      },
      [&] {
        const Checkpoint found = load_checkpoint(folder);
        const std::vector<double> values = found.tensors.at("w").to_vector<double>();
        CHECK(found.skipped.empty());
        CHECK(all_equal(values));
        CHECK(values[0] >= last);
        last = values[0];
      });
}

TEST_CASE("kills: a file that is replaced is whole, and the next save leaves no other file") {
  const ScratchFolder folder;
  const fs::path path = folder / "x.txt";
  kit::replace_file(path, "a");
  with_kills(
      [&](int i) { kit::replace_file(path, std::string(20'000, static_cast<char>('a' + i % 26))); },
      [&] {
        const std::string bytes = bytes_of(path);
        REQUIRE(!bytes.empty());
        CHECK(std::count(bytes.begin(), bytes.end(), bytes[0]) == static_cast<std::ptrdiff_t>(bytes.size()));
        kit::replace_file(path, "a");
        CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
      });
}

TEST_CASE("kills: a log loses no line but the one that was being written") {
  const ScratchFolder folder;
  const fs::path path = folder / "x.jsonl";
  const auto append = [&](int) {
    kit::RunLog log(path);
    const auto next = static_cast<std::int64_t>(kit::read_run_log(path).size());
    for (std::int64_t i = next; i < next + 20; ++i) log.write({{"n", i}, {"text", std::string(500, 'x')}});
  };
  std::size_t last = 0;
  with_kills(append, [&] {
    const kit::LogLines lines = kit::read_run_log(path);
    CHECK(lines.size() >= last);
    last = lines.size();
    for (std::size_t i = 0; i < last; ++i) REQUIRE(lines[i]["n"].integer() == static_cast<std::int64_t>(i));
  });
  CHECK(last > 0);
}

TEST_CASE("kills: a model in several files is whole or an error, and a save makes it whole again") {
  const ScratchFolder scratch;
  const std::string folder = scratch.path();
  const auto save = [&](int number) {
    const nn::GPT gpt({.vocab = 3, .context = 4, .layers = 1, .block = {.d_model = 4, .heads = 1}});
    for (const Tensor& w : gpt.parameters()) nn::init::constant_(w, number);
    gpt.save_pretrained(folder, {.max_shard_bytes = 400});
  };
  with_kills(save, [&] {
    const auto is_whole = [&] {
      std::vector<double> values;
      for (const Tensor& w : nn::GPT::load_pretrained(folder).parameters())
        for (const double value : w.to_vector<double>()) values.push_back(value);
      return all_equal(values);
    };
    try {
      CHECK(is_whole());
    } catch (const Error&) {
    }
    save(0);
    CHECK(is_whole());
  });
}

}  // namespace gradus::test
