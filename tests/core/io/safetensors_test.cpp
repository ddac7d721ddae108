#include "gradus/core/io/safetensors.h"

#include <doctest/doctest.h>

#include <vector>

#include "check_op.h"
#include "core/io/hostile.h"
#include "gradus/core/random/random.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

using Values = std::vector<double>;

void check_equal(const Tensor& a, const Tensor& b) {
  CHECK(a.dtype() == b.dtype());
  CHECK(a.shape() == b.shape());
  CHECK((a == b).all());
}

}  // namespace

TEST_CASE("saving and loading keeps types, shapes, layouts, order and metadata") {
  const ScratchFolder folder;
  const std::string path = folder / "x.safetensors";
  Generator generator(1);
  const Tensor big = randn({300, 7}, generator);
  const StateDict saved = {{"flags", tensor({true, false, true})},
                           {"b.weight", big},
                           {"a.turned", big.transpose(0, 1)},
                           {"part", big.slice(0, 3, 200, 7)},
                           {"wide", tensor(0.5).expand({2, 3})},
                           {"double", randn({3}, generator, f64)},
                           {"large", tensor({(std::int64_t{1} << 53) + 1, INT64_MIN})},
                           {"one", tensor(2.5)},
                           {"empty", zeros({0, 4})},
                           {"", tensor({7})},
                           {"a \"quoted\"\n\u00e9 \\ name", tensor({8})}};
  const Metadata notes = {{"format", "pt"}, {"step", "12"}, {"", "\u4e2d\"\\"}};
  save_safetensors(path, saved, notes);
  Metadata read;
  const StateDict loaded = load_safetensors(path, &read);
  CHECK(read == notes);
  REQUIRE(loaded.size() == saved.size());
  for (auto a = saved.begin(), b = loaded.begin(); a != saved.end(); ++a, ++b) {
    CHECK(a->first == b->first);
    check_equal(a->second, b->second);
  }
  CHECK(loaded.at("large").to_vector<std::int64_t>()[0] == (std::int64_t{1} << 53) + 1);
  CHECK(loaded.at("a.turned").is_contiguous());
  CHECK_FALSE(loaded.at("b.weight").requires_grad());
}

TEST_CASE("the bytes are those of the specification, and the same every time") {
  const ScratchFolder folder;
  const std::string path = folder / "x.safetensors";
  const StateDict dict = {{"ok", tensor({true})}, {"w", tensor({{1.0}, {-2.0}})}, {"n", tensor({3})}};
  save_safetensors(path, dict, {{"k", "v"}});
  // Large elements first, so that all are aligned; the header keeps the caller's order.
  std::string header =
      R"({"__metadata__":{"k":"v"},"ok":{"dtype":"BOOL","shape":[1],"data_offsets":[16,17]},)"
      R"("w":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},"n":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})";
  while (header.size() % 8) header += ' ';
  const std::string data =
      little_endian(3, 8) + little_endian(0x3f800000, 4) + little_endian(0xc0000000, 4) + "\1";
  CHECK(read_bytes(path) == little_endian(header.size(), 8) + header + data);
  save_safetensors(path, {});
  CHECK(read_bytes(path) == little_endian(8, 8) + "{}      ");
  CHECK(load_safetensors(path).empty());
}

TEST_CASE("a file made for PyTorch loads") {
  Metadata notes;
  const StateDict dict = load_safetensors(source_file("tests/golden/io/weights.safetensors"), &notes);
  CHECK(notes == Metadata{{"format", "pt"}});
  CHECK(dict.size() == 5);
  check_equal(dict.at("fc.weight"), tensor({{0.0, 0.25, 0.5}, {0.75, 1.0, 1.25}}));
  check_equal(dict.at("double"), tensor({0.1, -1e300}, f64));
  check_equal(dict.at("steps"), tensor((std::int64_t{1} << 40) + 1));
  check_equal(dict.at("mask"), tensor({{true}, {false}, {true}}));
  check_equal(dict.at("nothing"), zeros({0, 5}));
}

TEST_CASE("saving replaces a file atomically") {
  const ScratchFolder folder;
  const std::string path = folder / "x.safetensors";
  save_safetensors(path, {{"a", ones({100})}});
  save_safetensors(path, {{"b", tensor(1.0)}});
  CHECK(load_safetensors(path).contains("b"));
  CHECK_FALSE(load_safetensors(path).contains("a"));
  // Through a link, the file it points to.
  std::filesystem::create_symlink("x.safetensors", folder / "link");
  save_safetensors(folder / "link", {{"c", tensor(1.0)}});
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(load_safetensors(path).contains("c"));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  CHECK(files == 2);
}

TEST_CASE("save_safetensors: errors leave no file") {
  const ScratchFolder folder;
  const std::string path = folder / "x.safetensors";
  const auto start = "save_safetensors: " + path;
  check_error([&] { save_safetensors(path, {{"w", Tensor()}}); }, start + ": tensor 'w' is undefined");
  check_error(
      [&] {
        save_safetensors(path, {{"__metadata__", ones({1})}});
      },
      start + ": a tensor cannot be called '__metadata__'");
  check_error([&] { save_safetensors(path, {{"w\xff", ones({1})}}); }, start + ": 'w?' is not valid UTF-8");
  check_error([&] { save_safetensors(path, {}, {{"k", "\xc3"}}); }, start + ": '?' is not valid UTF-8");
  check_error(
      [&] {
        save_safetensors(path, {{std::string(100'000'000, 'x'), ones({1})}});
      },
      start + ": names and metadata take 100000056 bytes, expects at most 100000000");
  Metadata notes;  // what could not be read again is not written
  for (int i = 0; i < 20000; ++i) notes[std::to_string(i)] = "";
  check_error([&] { save_safetensors(path, {}, notes); }, start + ": expects at most 16528 notes, got 20000");
  check_error([&] { save_safetensors(folder / "no/x", {}); },
              "save_safetensors: " + (folder / "no/x").string() +
                  ": cannot create a file in its folder: No such file or directory");
  CHECK(std::filesystem::is_empty(folder.path()));
  std::filesystem::create_directory(folder / "taken");
  check_error([&] { save_safetensors(folder / "taken", {}); },
              "save_safetensors: " + (folder / "taken").string() +
                  ": is a folder, which saving would replace: expects a file or a new name");
}
