// Checkpoints in parts: whole again from any number of them, and never half.

#include "gradus/core/io/checkpoint_parts.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "check_op.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

/// Part `part` of `parts` of a state of this step: a third of "w", and one tensor more.
StateDict part_at(double step, int part, int parts) {
  const Tensor w = full({4, 3}, step).reshape({12});
  const std::int64_t begin = 12 * (part - 1) / parts, end = 12 * part / parts;
  StateDict state{{io::piece_name("w", begin, {4, 3}), w.slice(0, begin, end)}};
  state.set("own " + std::to_string(part), tensor(step));
  return state;
}

std::string save(const std::string& folder, double step, int parts) {
  const std::int64_t number = io::next_checkpoint(folder);
  std::vector<std::uint32_t> checksums;
  for (int part = 1; part <= parts; ++part)
    checksums.push_back(io::save_checkpoint_part(folder, number, part, parts, part_at(step, part, parts)));
  io::complete_checkpoint(folder, number, checksums, {{"step", std::to_string(step)}});
  return io::checkpoint_path(folder, number);
}

void expect_step(const std::string& folder, double step, int parts) {
  const Checkpoint found = load_checkpoint(folder);
  CHECK(found.tensors.size() == static_cast<std::size_t>(parts) + 1);
  CHECK(found.tensors.at("w").shape() == Shape{4, 3});
  CHECK((found.tensors.at("w") == step).all());
  CHECK(found.tensors.at("own 1").item() == step);
  CHECK(found.metadata == Metadata{{"step", std::to_string(step)}});
}

std::size_t files_in(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.is_regular_file();
  return count;
}

}  // namespace

TEST_CASE("checkpoint parts: read as one; the two newest are kept") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "checkpoints";
  for (const int parts : {1, 3, 5, 2, 4}) {
    const std::string path = save(folder, parts, parts);
    expect_step(folder, parts, parts);
    CHECK(load_checkpoint(folder).path == path);
  }
  CHECK(list_checkpoints(folder).size() == 2);
  CHECK(files_in(folder) == 2 + 2 + 4);
  save_checkpoint(folder, {{"w", ones({2})}});
  save_checkpoint(folder, {{"w", ones({2})}});
  CHECK(files_in(folder) == 2);
}

TEST_CASE("checkpoint parts: without the last file there is no checkpoint, and its parts are removed") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "checkpoints";
  save(folder, 1, 2);
  const std::int64_t number = io::next_checkpoint(folder);
  CHECK(number == 2);
  for (const int part : {1, 3}) io::save_checkpoint_part(folder, number, part, 3, part_at(2, part, 3));
  expect_step(folder, 1, 2);
  CHECK(load_checkpoint(folder).skipped.empty());
  CHECK(io::next_checkpoint(folder) == 2);
  check_error(
      [&] {
        io::complete_checkpoint(folder, number, {1, 2, 3}, {});
      },
      "save_checkpoint: " + folder +
          "/checkpoint-000002.part-2-of-3.safetensors is not there, which another process has written: all "
          "of them need the same folder, on a file system that their machines share");
  save(folder, 2, 2);
  save(folder, 3, 2);
  expect_step(folder, 3, 2);
  save(folder, 4, 2);
  CHECK(files_in(folder) == 2 * 3);
}

TEST_CASE("checkpoint parts: a damaged, missing or foreign part makes the whole one damaged") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "checkpoints";
  const auto fails_with = [&](const std::string& text) {
    const Checkpoint found = load_checkpoint(folder);
    expect_step(folder, 1, 2);
    REQUIRE(found.skipped.size() == 1);
    CHECK(found.skipped[0].find(text) != std::string::npos);
  };
  save(folder, 1, 2);
  const std::string path = save(folder, 2, 2);
  const std::string second = folder + "/checkpoint-000002.part-2-of-2.safetensors";
  const std::string kept = second + ".kept";
  std::filesystem::copy_file(second, kept);
  {
    std::fstream file(second, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x7f');
  }
  fails_with("is damaged");
  std::filesystem::remove(second);
  fails_with("part-2-of-2");
  io::save_checkpoint_part(folder, 2, 2, 2, part_at(7, 2, 2));
  fails_with("is a part of another checkpoint");
  std::filesystem::rename(kept, second);
  expect_step(folder, 2, 2);
}

TEST_CASE("checkpoint parts: pieces") {
  const Tensor x = arange(6.0).reshape({2, 3}), flat = x.reshape({6});
  CHECK(io::piece_name("a", 4, {2, 3}) == "a@4:[2, 3]");
  CHECK(io::is_piece("a@4:[2, 3]"));
  CHECK(io::is_piece("a@b@0:[]"));
  for (const char* name : {"a", "a@", "a@1", "a@1:", "a@1:[2", "a@1:[2,3]", "a@1:[2] ", "a@-1:[2]", "a@1:[,]",
                           "a@0:[1, 1, 1, 1, 1, 1, 1, 1, 1]"})
    CHECK_FALSE(io::is_piece(name));
  const auto piece = [&](std::int64_t begin, std::int64_t end) {
    return StateDict::Entry(io::piece_name("x", begin, {2, 3}), flat.slice(0, begin, end));
  };
  const StateDict joined = io::join_pieces("test", {piece(4, 6), {"y", ones({1})}, piece(0, 1), piece(1, 4)});
  CHECK(joined.size() == 2);
  CHECK(equal(joined.at("x"), x));
  const StateDict small = io::join_pieces("test", {{"n@0:[]", ones({1})}, {"z@0:[0, 3]", zeros({0})}});
  CHECK(small.at("n").shape() == Shape{});
  CHECK(small.at("z").shape() == Shape{0, 3});
  check_error([&] { io::join_pieces("test", {piece(0, 4)}); },
              "test: tensor 'x' [2, 3] has only 4 of 6 elements");
  check_error(
      [&] {
        io::join_pieces("test", {piece(0, 4), piece(3, 6)});
      },
      "test: two pieces of tensor 'x' have the same elements");
  check_error(
      [&] {
        io::join_pieces("test", {piece(3, 6), piece(0, 4)});
      },
      "test: two pieces of tensor 'x' have the same elements");
  check_error(
      [&] {
        io::join_pieces("test", {{"x@4:[2, 3]", ones({3})}});
      },
      "test: tensor 'x' [2, 3] has a piece [3] at 4");
  check_error(
      [&] {
        io::join_pieces("test", {{"x@7:[2, 3]", zeros({0})}});
      },
      "test: tensor 'x' [2, 3] has a piece [0] at 7");
  check_error(
      [&] {
        io::join_pieces("test", {{"x@0:[2, 3]", x}});
      },
      "test: tensor 'x' [2, 3] has a piece [2, 3] at 0");
  check_error(
      [&] {
        io::join_pieces("test", {{"x@0:[2, 3]", ones({3})}, {"x@3:[3, 2]", ones({3})}});
      },
      "test: the pieces of tensor 'x' have different shapes or dtypes");
  check_error(
      [&] {
        io::join_pieces("test", {{"x@0:[2, 3]", ones({3})}, {"x@3:[2, 3]", ones({3}, f64)}});
      },
      "test: the pieces of tensor 'x' have different shapes or dtypes");
}

TEST_CASE("checkpoint parts: a file whose notes name no parts is damaged, though its checksum holds") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "checkpoints";
  save(folder, 1, 1);
  const std::string path = folder + "/checkpoint-000002.safetensors";
  const auto reason = [&] {
    const Checkpoint found = load_checkpoint(folder);
    CHECK(found.path == folder + "/checkpoint-000001.safetensors");
    return found.skipped.size() == 1 ? found.skipped[0] : "";
  };
  for (const auto& [parts, text] : {std::pair("", "has '' parts"),
                                    {"0", "has '0' parts"},
                                    {"two", "has 'two' parts"},
                                    {"1048577", "has '1048577' parts"},
                                    {"12345678", "has '12345678' parts"},
                                    {"1", "part-1-of-1.safetensors: cannot open"}}) {
    Metadata notes{{"gradus.parts", parts}, {"gradus.crc32", "none"}};
    save_safetensors(path, {}, notes);
    const std::string damaged = reason(), found = "its checksum is ";
    REQUIRE(damaged.find(found) != std::string::npos);
    notes["gradus.crc32"] = damaged.substr(damaged.find(found) + found.size(), 8);
    save_safetensors(path, {}, notes);
    CHECK(reason().find(text) != std::string::npos);
  }
}
