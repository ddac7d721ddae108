#include "gradus/core/io/checkpoint_files.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "check_op.h"
#include "core/io/hostile.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

/// A state whose parts all contain its step.
StateDict state_at(double step) {
  return {{"model.w", full({3, 5}, step)},
          {"optimizer.exp_avg", full({2}, -step, f64)},
          {"steps", tensor(static_cast<std::int64_t>(step))},
          {"mask", tensor({true, false})},
          {"model.halves", full({4}, step, bf16)},
          {"model.other_halves", full({3}, step, f16)},
          {"nothing", zeros({0, 2})}};
}

Metadata notes_at(double step) { return {{"step", std::to_string(step)}, {"generator", "7 0 12"}}; }

bool holds_step(const Checkpoint& checkpoint, double step) {
  if (checkpoint.metadata != notes_at(step) || checkpoint.tensors.size() != 7) return false;
  const StateDict expected = state_at(step);
  for (const auto& [name, tensor] : expected) {
    const Tensor* const found = checkpoint.tensors.find(name);
    if (!found || found->shape() != tensor.shape() || found->dtype() != tensor.dtype() ||
        found->to(f64).to_vector<double>() != tensor.to(f64).to_vector<double>())
      return false;
  }
  return true;
}

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

TEST_CASE("the newest checkpoint is loaded, and two are kept") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "run/checkpoints";
  CHECK(list_checkpoints(folder).empty());
  for (int step = 1; step <= 5; ++step) {
    const std::string path = save_checkpoint(folder, state_at(step), notes_at(step));
    CHECK(name_of(path) == "checkpoint-00000" + std::to_string(step) + ".safetensors");
    const Checkpoint last = load_checkpoint(folder);
    CHECK(holds_step(last, step));
    CHECK(last.path == path);
    CHECK(last.skipped.empty());
  }
  const std::vector<std::string> kept = list_checkpoints(folder);
  REQUIRE(kept.size() == 2);
  CHECK(name_of(kept[0]) == "checkpoint-000005.safetensors");
  CHECK(name_of(kept[1]) == "checkpoint-000004.safetensors");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++files;
  CHECK(files == 2);
  // A checkpoint is a safetensors file like any other.
  CHECK(load_safetensors(kept[0]).at("steps").item() == 5);
}

TEST_CASE("other files of the folder are kept, leftovers of killed programs are removed") {
  const ScratchFolder scratch;
  const std::vector<const char*> others = {"notes.txt",
                                           "checkpoint-.safetensors",
                                           "checkpoint-1.safetensors",
                                           "checkpoint-1234567890123456789.safetensors",
                                           "checkpoint-000001.safetensors.bak",
                                           "checkpoint-00000x.safetensors"};
  for (const char* name : others) write_bytes(scratch / name, "x");
  write_bytes(scratch / ".gradus-tmp-1-0", "x");
  std::filesystem::create_directory(scratch / ".gradus-tmp-1-1");
  for (int step = 1; step <= 4; ++step) save_checkpoint(scratch.path(), state_at(step), notes_at(step));
  CHECK(list_checkpoints(scratch.path()).size() == 2);
  CHECK(holds_step(load_checkpoint(scratch.path()), 4));
  for (const char* name : others) CHECK(read_bytes(scratch / name) == "x");
  CHECK_FALSE(std::filesystem::exists(scratch / ".gradus-tmp-1-0"));
  CHECK(std::filesystem::exists(scratch / ".gradus-tmp-1-1"));
}

TEST_CASE("a change of any bit of a checkpoint is detected") {
  const ScratchFolder scratch;
  const std::string folder = scratch.path();
  save_checkpoint(folder, state_at(1), notes_at(1));
  const std::string newest = save_checkpoint(folder, state_at(2), notes_at(2));
  const std::string bytes = read_bytes(newest);
  int fallbacks = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const int bit = static_cast<int>(at % 8);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
    write_bytes(newest, damaged);
    const Checkpoint found = load_checkpoint(folder);
    CHECK(holds_step(found, 1));
    REQUIRE(found.skipped.size() == 1);
    CHECK(found.skipped[0].find(newest) != std::string::npos);
    fallbacks += 1;
  }
  CHECK(fallbacks == static_cast<int>(bytes.size()));
  for (std::size_t length = 0; length < bytes.size(); length += 13) {
    write_bytes(newest, bytes.substr(0, length));
    CHECK(holds_step(load_checkpoint(folder), 1));
  }
  // The next save numbers on and leaves a whole one newest.
  CHECK(name_of(save_checkpoint(folder, state_at(3), notes_at(3))) == "checkpoint-000003.safetensors");
  CHECK(holds_step(load_checkpoint(folder), 3));
}

TEST_CASE("skipped checkpoints are reported") {
  const ScratchFolder scratch;
  const std::string folder = scratch.path();
  save_checkpoint(folder, state_at(1), notes_at(1));
  const std::string newest = save_checkpoint(folder, state_at(2), notes_at(2));
  std::string bytes = read_bytes(newest);
  bytes[bytes.size() - 3] ^= 1;  // in the last tensor of the file
  write_bytes(newest, bytes);
  const Checkpoint found = load_checkpoint(folder);
  REQUIRE(found.skipped.size() == 1);
  CHECK(found.skipped[0].find("load_checkpoint: " + newest +
                              ": tensor 'model.other_halves' is damaged: its checksum is ") == 0);
  save_safetensors(newest, state_at(2));  // no checksums at all
  CHECK(load_checkpoint(folder).skipped[0] == "load_checkpoint: " + newest + ": the header has no checksum");
}

TEST_CASE("checkpoints: errors") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "x";
  check_error([&] { load_checkpoint(folder); }, "load_checkpoint: " + folder + " holds no checkpoint");
  check_error(
      [&] {
        save_checkpoint(folder, {{"w", Tensor()}});
      },
      "save_checkpoint: tensor 'w' is undefined");
  check_error(
      [&] {
        save_checkpoint(folder, {}, {{"gradus.x", "1"}});
      },
      "save_checkpoint: note 'gradus.x' starts with 'gradus.', which is taken");
  write_bytes(scratch / "file", "");
  const std::string blocked = scratch / "file/y";
  check_error([&] { save_checkpoint(blocked, {}); },
              "save_checkpoint: " + blocked + ": cannot make the folder: Not a directory");
  write_bytes(folder + "/checkpoint-000007.safetensors", "");
  check_error([&] { load_checkpoint(folder); },
              "load_checkpoint: " + folder + " holds no whole checkpoint:\n  load_safetensors: " + folder +
                  "/checkpoint-000007.safetensors: has 0 bytes, expects a header of 8 or more");
}

TEST_CASE("a program killed while saving loses nothing") {
  const ScratchFolder scratch;
  const std::string folder = scratch.path();
  save_checkpoint(folder, state_at(0), notes_at(0));
  std::mt19937 random(1);
  double last = 0;
  for (int kill_number = 0; kill_number < 30; ++kill_number) {
    int started[2];
    REQUIRE(pipe(started) == 0);
    const pid_t child = fork();
    if (child == 0) {
      for (double step = last + 1;; ++step) {
        const bool told = write(started[1], "x", 1) == 1;
        if (!told) _exit(1);
        save_checkpoint(folder, state_at(step), notes_at(step));
      }
    }
    char byte = 0;
    REQUIRE(read(started[0], &byte, 1) == 1);  // the first save is about to begin
    usleep(static_cast<useconds_t>(random() % 5000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(started[0]);
    close(started[1]);
    const Checkpoint found = load_checkpoint(folder);
    CHECK(found.skipped.empty());
    const double step = found.tensors.at("steps").item();
    CHECK(step >= last);
    CHECK(holds_step(found, step));
    last = step;
  }
}
