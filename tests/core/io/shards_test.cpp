// Weights in several files with an index.

#include "gradus/core/io/detail/shards.h"

#include <doctest/doctest.h>

#include <set>

#include "check_op.h"
#include "core/io/hostile.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

std::set<std::string> files_in(const ScratchFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.insert(entry.path().filename().string());
  return names;
}

void save(const ScratchFolder& folder, const StateDict& tensors, std::uint64_t max_bytes) {
  io::WeightFiles files("save", folder.path().string(), tensors, {{"format", "pt"}}, max_bytes);
  files.commit();
}

const StateDict kThree = {{"a", tensor({1.0, 2.0})}, {"b", tensor({{3.0}})}, {"c", zeros({100})}};

}  // namespace

TEST_CASE("weights in several files are loaded as one, and a later save removes replaced files") {
  const ScratchFolder folder;
  const std::string index = (folder / "model.safetensors.index.json").string();
  save(folder, kThree, 12);  // a and b together, c is larger than any file may be
  CHECK(files_in(folder) == std::set<std::string>{"model-00001-of-00002.safetensors",
                                                  "model-00002-of-00002.safetensors",
                                                  "model.safetensors.index.json"});
  Metadata notes;
  const StateDict loaded = load_safetensors(index, &notes);
  CHECK(notes == Metadata{{"format", "pt"}});
  CHECK(loaded.size() == 3);
  CHECK(loaded.at("a").to_vector<double>() == std::vector<double>{1, 2});
  CHECK(loaded.at("c").shape() == Shape{100});
  CHECK(read_bytes(index) == R"({
  "metadata": {
    "total_size": 412
  },
  "weight_map": {
    "a": "model-00001-of-00002.safetensors",
    "b": "model-00001-of-00002.safetensors",
    "c": "model-00002-of-00002.safetensors"
  }
}
)");
  const std::set<std::string> others = {"model-00001-of-00009.txt", "model-0000!-of-00009.safetensors",
                                        "model-0000a-of-00009.safetensors"};
  for (const std::string& name : others) write_bytes(folder / name, "not ours");
  std::filesystem::create_directory(folder / "model-00001-of-00009.safetensors");  // cannot be removed
  save(folder, kThree, 11);
  CHECK(files_in(folder).size() == others.size() + 5);
  save(folder, kThree, 1000);
  std::filesystem::remove(folder / "model-00001-of-00009.safetensors");
  std::set<std::string> kept = others;
  kept.insert("model.safetensors");
  CHECK(files_in(folder) == kept);
  save(folder, {}, 1000);
  CHECK(files_in(folder) == kept);
  CHECK(load_safetensors((folder / "model.safetensors").string()).size() == 0);
  check_error(
      [&] {
        save(folder, {{"a", Tensor()}}, 1000);
      },
      "save: " + (folder / "model.safetensors").string() + ": tensor 'a' is undefined");
  save(folder, kThree, 12);
  CHECK_FALSE(files_in(folder).contains("model.safetensors"));
}

TEST_CASE("files that were not committed do not exist") {
  const ScratchFolder folder;
  save(folder, kThree, 1000);
  const std::string before = read_bytes(folder / "model.safetensors");
  { const io::WeightFiles files("save", folder.path().string(), {{"a", ones({7})}}, {}, 1000); }
  CHECK(files_in(folder) == std::set<std::string>{"model.safetensors"});
  CHECK(read_bytes(folder / "model.safetensors") == before);
  StateDict many;
  for (int i = 0; i < 501; ++i) many.set(std::to_string(i), ones({2}));
  check_error([&] { save(folder, many, 8); },
              "save: files of 8 bytes would be 501, expects at most 500: allow larger ones");
}

TEST_CASE("an invalid index is an error that names the problem") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.index.json";
  save_safetensors((folder / "1.safetensors").string(), {{"a", ones({1})}});
  save_safetensors((folder / "2.safetensors").string(), {{"a", ones({1})}, {"b", ones({1})}});
  const auto says = [&](const std::string& text) {
    write_bytes(path, text);
    return complaint([&] { load_safetensors(path); }, path);
  };
  const auto map = [&](const std::string& entries) { return says("{\"weight_map\":{" + entries + "}}"); };
  CHECK(says("") == "not JSON at its byte 1, its end: is it cut short?");
  CHECK(says("{\"weight_map\": {") == "not JSON at its byte 17, its end: is it cut short?");
  CHECK(says("{\"weight_map\" {") == "not JSON at its byte 15");
  CHECK(says(std::string("{}\0", 3)) == "not JSON at its byte 3");
  CHECK(says("[]") == "expects a JSON object, got a list");
  CHECK(says("{\"x\":1e999}") == "not JSON at its byte 10");
  CHECK(says("{\"x\":{\"weight_map\":{}}}") == "expects an object 'weight_map'");
  CHECK(map("\"a\":{}") == "weight_map: 'a': expects the name of a file, got an object");
  CHECK(map(R"("a":"1.safetensors","a":"1.safetensors")") == "weight_map: 'a' appears twice");
  CHECK(map(R"("a":"1.safetensors"},"more":{"b":["weight_map",{"c":7}])") == "");
  CHECK(says("{\"x\":" + std::string(1'000'000, '[')) ==
        "not JSON at its byte 1000006, its end: is it cut short?");
  CHECK(says("{}") == "expects an object 'weight_map'");
  CHECK(says("{\"weight_map\":[]}") == "expects an object 'weight_map', got a list");
  CHECK(map("\"a\":1") == "weight_map: 'a': expects the name of a file, got a number");
  CHECK(map("\"a\":\"1\\u0000\"") ==
        "weight_map: 'a': expects the name of a file in the same folder, got '1?'");
  for (const auto& [value, what] :
       {std::pair("null", "null"), {"true", "true or false"}, {"-1", "a number"}, {"0.5", "a number"}}) {
    CHECK(map(std::string("\"a\":") + value) ==
          std::string("weight_map: 'a': expects the name of a file, got ") + what);
    CHECK(says(std::string("{\"weight_map\":") + value + "}") ==
          std::string("expects an object 'weight_map', got ") + what);
    CHECK(map(std::string("\"a\":\"1.safetensors\"},\"x\":{\"weight_map\":") + value) == "");
  }
  CHECK(map(R"("a":"2.safetensors"},"x":"weight_map","weight_map":{"b":"2.safetensors")") == "");
  for (const std::string name : {"", ".", "..", "../1.safetensors", "/etc/passwd", "sub/1.safetensors"})
    CHECK(map("\"a\":\"" + name + "\"") ==
          "weight_map: 'a': expects the name of a file in the same folder, got '" + name + "'");
  CHECK(map(R"("a":"1.safetensors","b":"3.safetensors","c":"4.safetensors")") ==
        "names files that are not in its folder: '3.safetensors', '4.safetensors'");
  CHECK(map(R"("a":"1.safetensors","b":"1.safetensors")") == "weight_map: 'b' is not in '1.safetensors'");
  CHECK(map(R"("a":"1.safetensors","b":"2.safetensors")") ==
        "weight_map: 'a' is in '2.safetensors', but the map says '1.safetensors'");
  CHECK(map(R"("a":"2.safetensors")") == "");  // what the map leaves out is read too
  save_safetensors((folder / "3.safetensors").string(), {{"b", ones({1})}, {"c", ones({1})}});
  CHECK(map(R"("a":"2.safetensors","c":"3.safetensors")") ==
        "tensor 'b' is in '3.safetensors' and in another of its files");
  CHECK(says("{\"weight_map\":{}}") == "");
}

TEST_CASE("every truncation and every damaged byte of an index") {
  const ScratchFolder folder;
  save(folder, kThree, 12);
  const std::filesystem::path path = folder / "model.safetensors.index.json";
  const std::string bytes = read_bytes(path);
  const auto load = [&] {
    try {
      load_safetensors(path);
    } catch (const Error&) {  // it may name a shard
    }
  };
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const char byte : {'\0', '"', '{', '}', ',', ':', '/', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = byte;
      write_bytes(path, damaged);
      load();
    }
  for (std::size_t length = 0; length + 1 < bytes.size(); ++length) {  // but for the last newline
    write_bytes(path, bytes.substr(0, length));
    CHECK_THROWS_AS(load_safetensors(path), const Error&);
  }
}
