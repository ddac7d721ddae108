// Checkpoints of many ranks: written by any number, read by any other.

#include "gradus/distributed/checkpoint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "check_op.h"
#include "distributed/cases.h"
#include "gradus/distributed/threads.h"
#include "gradus/gradus.h"
#include "support.h"

namespace gradus::test {

using distributed::Communicator;
using distributed::run_threads;

namespace {

std::string trained(const std::string& folder, int ranks, int steps) {
  std::string hashes;
  run_threads(ranks, [&](const Communicator& world) {
    const std::string mine = resumable_training(world, folder, steps, 5);
    if (world.rank() == 0) hashes = mine;
  });
  return hashes;
}

std::string message_of(int ranks, const std::function<void(const Communicator&)>& main) {
  try {
    run_threads(ranks, main);
  } catch (const Error& error) {
    return error.what();
  }
  return "no failure";
}

}  // namespace

TEST_CASE("checkpoints of ranks: a training goes on with any other number of them, with the same bits") {
  const ScratchFolder scratch;
  const std::string whole = trained(scratch / "whole", 1, 40);
  CHECK(trained(scratch / "other", 1, 39) != whole);  // the comparison can fail
  const std::string folder = scratch / "parts";
  int steps = 0;
  for (const int ranks : {4, 1, 2, 8, 1, 8, 4}) trained(folder, ranks, steps += 5);
  CHECK(trained(folder, 2, 38).size() == whole.size());  // the last three steps are in no checkpoint
  for (const int ranks : {1, 2, 8}) {
    std::filesystem::remove_all(scratch / "end");
    std::filesystem::copy(folder, scratch / "end");
    CHECK(trained(scratch / "end", ranks, 40) == whole);
  }
}

TEST_CASE("checkpoints of ranks: equal parts of every kind of tensor, and all of it comes back") {
  const ScratchFolder scratch;
  const StateDict state{{"large", arange(1000.0).reshape({10, 100})},
                        {"turned", arange(12.0).reshape({3, 4}).t()},
                        {"number", tensor(7)},
                        {"nothing", zeros({0, 2})},
                        {"f64", arange(9.0).to(f64)},
                        {"bools", arange(5.0) > 2},
                        {"a@b", ones({2})}};
  for (const int ranks : {1, 2, 3, 5, 8}) {
    const std::string folder = scratch / std::to_string(ranks);
    run_threads(ranks, [&](const Communicator& world) {
      const std::string path = distributed::save_checkpoint(world, folder, state, {{"note", "n"}});
      CHECK(path == folder + "/checkpoint-000001.safetensors");
      const Checkpoint found = distributed::load_checkpoint(world, folder);
      CHECK(found.metadata == Metadata{{"note", "n"}});
      REQUIRE(found.tensors.size() == state.size());
      for (const auto& entry : state) {
        CAPTURE(entry.first);
        CHECK(found.tensors.at(entry.first).dtype() == entry.second.dtype());
        CHECK(equal(found.tensors.at(entry.first), entry.second));
      }
    });
    if (ranks == 1) continue;
    std::vector<std::uintmax_t> sizes;
    for (int part = 1; part <= ranks; ++part)
      sizes.push_back(std::filesystem::file_size(folder + "/checkpoint-000001.part-" + std::to_string(part) +
                                                 "-of-" + std::to_string(ranks) + ".safetensors"));
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    CHECK(*most - *least < 1000);  // of headers
  }
}

TEST_CASE("checkpoints of ranks: what differs is an error on all") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "run";
  CHECK(
      message_of(
          4,
          [&](const Communicator& world) {
            distributed::save_checkpoint(world, folder, {{"w", full({3}, world.rank() == 2 ? 1.0 : 2.0)}});
          })
          .starts_with("The tensors and notes of a checkpoint must be the same on all ranks. Different from "
                       "rank 0: rank 2. "));
  CHECK(list_checkpoints(folder).empty());
  CHECK(message_of(2, [&](const Communicator& world) {
          const std::string own = folder + std::to_string(world.rank());
          save_checkpoint(own, {{"w", full({3}, world.rank())}});
          distributed::load_checkpoint(world, own);
        }).starts_with("The checkpoint that a rank reads must be the same on all ranks."));
  check_error(
      [&] {
        distributed::save_checkpoint(Communicator(), folder, {{"w", Tensor()}});
      },
      "save_checkpoint: tensor w is undefined");
}

}  // namespace gradus::test
