// Power goes behind every call of a save, and takes with it any part of what was not flushed.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>

#include "gradus/core/error.h"
#include "gradus/core/io/checkpoint_files.h"
#include "gradus/core/io/npy.h"
#include "gradus/kit/data/files.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/nn/module/init.h"
#include "reliability/disk.h"
#include "reliability/reader_lists.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

/// Records save(2), save(3), ... and calls check(folder, last, begun) for the folder after each possible loss
/// of power: `last` is the last save that had returned, `begun` the last that had begun. Returns how many
/// there were.
int with_every_loss(const fs::path& folder, int saves, const std::function<void(int)>& save,
                    const std::function<void(const fs::path&, int, int)>& check) {
  std::vector<std::size_t> ends;  // the calls when a save returned
  std::mt19937 random(7);
  const ScratchFolder after;
  const Recording recording(folder);
  for (int i = 0; i < saves; ++i) {
    save(i + 2);
    ends.push_back(recording.calls());
  }
  int losses = 0;
  for (std::size_t calls = 0; calls <= recording.calls(); ++calls) {
    const auto done = static_cast<int>(std::upper_bound(ends.begin(), ends.end(), calls) - ends.begin());
    CAPTURE(calls);
    for (int i = 0; i < 30; ++i, ++losses) {
      const fs::path left = after / "left";
      recording.replay(calls, left, i == 0 ? Loss::all : i == 1 ? Loss::none : Loss::some, random);
      check(left, 1 + done, std::min(saves + 1, 2 + done));
    }
  }
  return losses;
}

/// The number all of whose copies a state dict holds; nothing if they differ.
std::optional<double> number_in(const StateDict& state) {
  std::optional<double> number;
  for (const auto& [name, tensor] : state)
    for (const double value : tensor.to_vector<double>()) {
      if (number && *number != value) return std::nullopt;
      number = value;
    }
  return number;
}

StateDict state_of(int number) { return {{"w", full({40}, number)}, {"v", full({3, 3}, number)}}; }

}  // namespace

TEST_CASE("power loss: a whole checkpoint is found, and it is the newest that was saved, or a newer one") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "run";
  save_checkpoint(folder, state_of(1));
  const int losses = with_every_loss(
      folder, 3, [&](int number) { save_checkpoint(folder, state_of(number)); },
      [&](const fs::path& left, int last, int begun) {
        const std::optional<double> found = number_in(load_checkpoint(left).tensors);
        REQUIRE(found);
        CHECK(*found >= last);
        CHECK(*found <= begun);
      });
  MESSAGE(losses << " losses of power");
  CHECK(losses > 500);
}

TEST_CASE("power loss: a file that is replaced is the old one or the new one") {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path(), text = folder / "study.json", array = folder / "x.npy";
  const auto words = [](int number) { return std::string(5000, static_cast<char>('a' + number)); };
  kit::replace_file(text, words(1));
  save_npy(array, full({40}, 1));
  const int losses = with_every_loss(
      folder, 2,
      [&](int number) {
        kit::replace_file(text, words(number));
        save_npy(array, full({40}, number));
      },
      [&](const fs::path& left, int last, int begun) {
        const std::string found = bytes_of(left / "study.json");
        CHECK((found == words(last) || found == words(begun)));
        const auto values = load_npy(left / "x.npy").to_vector<double>();
        CHECK(std::count(values.begin(), values.end(), values[0]) == 40);
        CHECK((values[0] == last || values[0] == begun));
      });
  MESSAGE(losses << " losses of power");
  CHECK(losses > 500);
}

TEST_CASE("power loss: a model in several files is the old one, the new one or an error") {
  const ScratchFolder scratch;
  const std::string folder = scratch.path();
  const auto save = [&](int number) {
    const nn::GPT gpt({.vocab = 3,
                       .context = 4,
                       .layers = 1,
                       .block = {.d_model = 4, .heads = 1, .dropout = number / 8.0}});
    for (const Tensor& w : gpt.parameters()) nn::init::constant_(w, number);
    gpt.save_pretrained(folder, {.max_shard_bytes = number == 2 ? 1'000'000U : 400U});  // 3 files, 1, 3
  };
  save(1);
  int errors = 0;
  const int losses = with_every_loss(folder, 2, save, [&](const fs::path& left, int last, int begun) {
    try {
      const nn::GPT gpt = nn::GPT::load_pretrained(left);
      const std::optional<double> found = number_in(gpt.state_dict());
      REQUIRE(found);
      CHECK(gpt.options().block.dropout == *found / 8);  // its config.json, too
      CHECK((*found == last || *found == begun));
    } catch (const Error&) {
      ++errors;
      CHECK(last < begun);  // during a save only
    }
  });
  MESSAGE(losses << " losses of power, " << errors << " errors");
  CHECK(losses > 500);
}

}  // namespace gradus::test
