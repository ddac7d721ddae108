// Invalid safetensors files.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <vector>

#include "core/io/hostile.h"
#include "gradus/core/io/safetensors.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

std::string file_with(const std::string& header, const std::string& data = "") {
  return little_endian(header.size(), 8) + header + data;
}

/// A header with one tensor 'w' made of these fields.
std::string tensor_with(const std::string& fields) { return "{\"w\":{" + fields + "}}"; }

const std::string kNoType =
    " is not one of F32, F64, I64 and BOOL, nor of F16, BF16, I32, I16, I8, U32, U16 and U8, which are "
    "widened";
const std::string kData(8, '\0');
const std::string kGood = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";

}  // namespace

TEST_CASE("an invalid header is an error that names the problem") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.safetensors";
  const auto load = [&] { load_safetensors(path); };
  struct Case {
    std::string header, message, data = kData;
  };
  const std::string w = "tensor 'w': ";
  const std::vector<Case> cases = {
      // not an object
      {"", "header: expects a JSON object"},
      {" ", "header: expects a JSON object"},
      {"[]", "header: expects a JSON object"},
      {"null", "header: expects a JSON object"},
      {" {}", "header: expects a JSON object"},
      {"{", "header: not JSON at its byte 2"},
      {"{}}", "header: not JSON at its byte 3"},
      {"{} x", "header: not JSON at its byte 4"},
      {std::string("{}\0", 3), "header: not JSON at its byte 3"},
      {"{\"a\":1}", "header: expects an object, got a number"},
      {"{\"a\":-1}", "header: expects an object, got -1"},
      {"{\"a\":1.5}", "header: expects an object, got '1.5'"},
      {"{\"a\":null}", "header: expects an object, got null"},
      {"{\"a\":true}", "header: expects an object, got true or false"},
      {"{\"a\":\"b\"}", "header: expects an object, got a string"},
      {"{\"a\":[]}", "header: expects an object, got a list"},
      {"{\"a\xff\":{}}", "header: not JSON at its byte 4"},
      {"{'w':{}}", "header: not JSON at its byte 2"},
      {"{\"w\":{" + kGood + "},}", "header: not JSON at its byte 55"},
      {"{/**/}", "header: not JSON at its byte 2"},
      {std::string(100, '{'), "header: not JSON at its byte 2"},
      {"{\"a\":{\"dtype\":" + std::string(100000, '['), "tensor 'a': expects a string, got a list"},
      {"{\"__metadata__\":" + std::string(100000, '['), "header: expects an object, got a list"},
      {"{\"__metadata__\":{\"a\":{\"a\":{", "metadata: expects a string, got an object"},

      // names
      {"{\"w\":{" + kGood + "},\"w\":{" + kGood + "}}", "header: name 'w' appears twice"},
      {"{\"w\":{" + kGood + "},\"\\u0077\":{" + kGood + "}}", "header: name 'w' appears twice"},
      {"{\"__metadata__\":{},\"__metadata__\":{}}", "header: name '__metadata__' appears twice"},
      {"{\"" + std::string(200, 'n') + "\":7}", "header: expects an object, got a number"},
      {"{\"" + std::string(200, 'n') + "\":{}}",
       "tensor '" + std::string(80, 'n') + "...': expects dtype, shape and data_offsets"},
      {"{\"a\\n\\u001b\\u00e9\":{}}", "tensor 'a?\?\u00e9': expects dtype, shape and data_offsets"},

      // metadata
      {"{\"__metadata__\":{\"a\":1}}", "metadata: expects a string, got a number"},
      {"{\"__metadata__\":{\"a\":null}}", "metadata: expects a string, got null"},
      {"{\"__metadata__\":{\"a\":[]}}", "metadata: expects a string, got a list"},
      {"{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}}", "metadata: key 'a' appears twice"},
      {"{\"__metadata__\":7}", "header: expects an object, got a number"},

      // fields
      {tensor_with(""), w + "expects dtype, shape and data_offsets"},
      {tensor_with(R"("dtype":"F32","shape":[2])"), w + "expects dtype, shape and data_offsets"},
      {tensor_with(R"("dtype":"F32","data_offsets":[0,8])"), w + "expects dtype, shape and data_offsets"},
      {tensor_with(R"("shape":[2],"data_offsets":[0,8])"), w + "expects dtype, shape and data_offsets"},
      {tensor_with(kGood + R"(,"dtype":"F32")"), w + "key 'dtype' appears twice"},
      {tensor_with(kGood + R"(,"shape":[2])"), w + "key 'shape' appears twice"},
      {tensor_with(kGood + R"(,"data_offsets":[0,8])"), w + "key 'data_offsets' appears twice"},
      {tensor_with(kGood + R"(,"strides":[1])"),
       w + "unknown key 'strides': expects dtype, shape and data_offsets"},
      {tensor_with(kGood + R"(,"":{})"), w + "unknown key '': expects dtype, shape and data_offsets"},

      // dtype
      {tensor_with(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])"), w + "dtype 'F8_E4M3'" + kNoType},
      {tensor_with(R"("dtype":"U64","shape":[1],"data_offsets":[0,8])"), w + "dtype 'U64'" + kNoType},
      {tensor_with(R"("dtype":"F16","shape":[2],"data_offsets":[0,8])"),
       w + "data_offsets [0, 8] hold 8 bytes, expects 4 for F16 [2]"},
      {tensor_with(R"("dtype":"U8","shape":[2],"data_offsets":[0,8])"),
       w + "data_offsets [0, 8] hold 8 bytes, expects 2 for U8 [2]"},
      {tensor_with(R"("dtype":"U8","shape":[2305843009213693952],"data_offsets":[0,8])"),
       w + "shape [2305843009213693952] has more elements than memory can address"},
      {tensor_with(R"("dtype":"f32","shape":[2],"data_offsets":[0,8])"), w + "dtype 'f32'" + kNoType},
      {tensor_with(R"("dtype":"","shape":[2],"data_offsets":[0,8])"), w + "dtype ''" + kNoType},
      {tensor_with(R"("dtype":1,"shape":[2],"data_offsets":[0,8])"), w + "expects a string, got a number"},
      {tensor_with(R"("dtype":null)"), w + "expects a string, got null"},
      {tensor_with(R"("dtype":["F32"])"), w + "expects a string, got a list"},
      {tensor_with(R"("dtype":{})"), w + "expects a string, got an object"},

      // shape
      {tensor_with(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"), w + "expects a list, got a number"},
      {tensor_with(R"("shape":"2")"), w + "expects a list, got a string"},
      {tensor_with(R"("shape":{})"), w + "expects a list, got an object"},
      {tensor_with(R"("shape":[-2])"), w + "expects a number of 0 or more, got -2"},
      {tensor_with(R"("shape":[2.0])"), w + "expects a number of 0 or more, got '2.0'"},
      {tensor_with(R"("shape":[1e1])"), w + "expects a number of 0 or more, got '1e1'"},
      {tensor_with(R"("shape":[02])"), "header: not JSON at its byte 17"},
      {tensor_with(R"("shape":[+2])"), "header: not JSON at its byte 16"},
      {tensor_with(R"("shape":[-0])"), w + "expects a number of 0 or more, got 0"},
      {tensor_with(R"("shape":[0x2])"), "header: not JSON at its byte 17"},
      {tensor_with(R"("shape":["2"])"), w + "expects a number of 0 or more, got a string"},
      {tensor_with(R"("shape":[[2]])"), w + "expects a number of 0 or more, got a list"},
      {tensor_with(R"("shape":[{}])"), w + "expects a number of 0 or more, got an object"},
      {tensor_with(R"("shape":[null])"), w + "expects a number of 0 or more, got null"},
      {tensor_with(R"("shape":[true])"), w + "expects a number of 0 or more, got true or false"},
      {tensor_with(R"("shape":[18446744073709551615])"), w + "size 18446744073709551615 is too large"},
      {tensor_with(R"("shape":[18446744073709551616])"),
       w + "expects a number of 0 or more, got '18446744073709551616'"},
      {tensor_with(R"("shape":[1,1,1,1,1,1,1,1,1])"), w + "expects at most 8 axes"},
      {tensor_with(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
       w + "data_offsets [0, 8] hold 8 bytes, expects 12 for F32 [3]"},
      {tensor_with(R"("dtype":"F64","shape":[2],"data_offsets":[0,8])"),
       w + "data_offsets [0, 8] hold 8 bytes, expects 16 for F64 [2]"},
      {tensor_with(R"("dtype":"F32","shape":[0],"data_offsets":[0,8])"),
       w + "data_offsets [0, 8] hold 8 bytes, expects 0 for F32 [0]"},
      {tensor_with(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,8])"),
       w + "shape [4611686018427387904] has more elements than memory can address"},
      {tensor_with(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])"),
       w + "shape [4294967296, 4294967296] has more elements than memory can address"},
      {tensor_with(R"("dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0])"),
       w + "shape [4294967296, 4294967296, 0] has more elements than memory can address"},
      {tensor_with(R"("dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104])"),
       w + "data_offsets [0, 4398046511104] do not lie in the file's 8 bytes of data"},

      // offsets
      {tensor_with(R"("data_offsets":0)"), w + "expects a list, got a number"},
      {tensor_with(R"("data_offsets":[])"), w + "expects two data_offsets"},
      {tensor_with(R"("data_offsets":[0])"), w + "expects two data_offsets"},
      {tensor_with(R"("data_offsets":[0,8,8])"), w + "data_offsets has more than two numbers"},
      {tensor_with(R"("data_offsets":[00,8])"), "header: not JSON at its byte 24"},
      {tensor_with(R"("data_offsets":[0,8.0])"), w + "expects a number of 0 or more, got '8.0'"},
      {tensor_with(R"("data_offsets":[0,8e0])"), w + "expects a number of 0 or more, got '8e0'"},
      {tensor_with(R"("data_offsets":[-8,0])"), w + "expects a number of 0 or more, got -8"},
      {tensor_with(R"("data_offsets":[0,"8"])"), w + "expects a number of 0 or more, got a string"},
      {tensor_with(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"),
       w + "data_offsets [8, 0] do not lie in the file's 8 bytes of data"},
      {tensor_with(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])"),
       w + "data_offsets [4, 12] do not lie in the file's 8 bytes of data"},
      {tensor_with(R"("dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,18446744073709551615])"),
       w + "data_offsets [18446744073709551608, 18446744073709551615] do not lie in the file's 8 bytes of "
           "data"},
      {tensor_with(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), "has 8 bytes of data, expects 4"},
      {tensor_with(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"),
       "tensor 'w' starts at byte 4 of the data, expects 0: there is a gap"},
      {tensor_with(R"("dtype":"F32","shape":[1],"data_offsets":[2,6])"),
       "tensor 'w' starts at byte 2 of the data, expects 0: there is a gap"},
      {"{}", "has 8 bytes of data, expects 0"},
      {"{\"w\":{" + kGood + "},\"v\":{" + kGood + "}}",
       "tensor 'v' starts at byte 0 of the data, expects 8: tensors overlap"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"BOOL","shape":[2],"data_offsets":[2,4]}})",
       "tensor 'b' starts at byte 2 of the data, expects 4: tensors overlap"},
      {R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       "tensor 'b' starts at byte 4 of the data, expects 1: there is a gap"},

      // data
      {tensor_with(R"("dtype":"BOOL","shape":[8],"data_offsets":[0,8])"),
       w + "element 5 is not a bool: expects a byte of 0 or 1", std::string("\0\1\0\1\0\2\0\1", 8)},
  };
  for (const Case& c : cases) {
    CAPTURE(c.header.substr(0, 200));
    write_bytes(path, file_with(c.header, c.data));
    CHECK(complaint(load, path) == c.message);
  }
}

TEST_CASE("a tensor need not start at a multiple of its element size") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.safetensors";
  const std::string header =
      R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})";
  write_bytes(path, file_with(header, std::string("\1\0\0\0\0\0\0\xf8\x3f", 9)));
  CHECK(load_safetensors(path).at("b").item() == 1.5);
}

TEST_CASE("an invalid length or a missing file is an error") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.safetensors";
  const auto load = [&] { load_safetensors(path); };
  const auto with = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    return complaint(load, path);
  };
  CHECK(complaint(load, path) == "cannot open: No such file or directory");
  CHECK(with("") == "has 0 bytes, expects a header of 8 or more");
  CHECK(with("1234567") == "has 7 bytes, expects a header of 8 or more");
  CHECK(with(little_endian(0, 8)) == "header: expects a JSON object");
  CHECK(with(little_endian(1, 8)) == "header: says it has 1 bytes, but the file has 8 in all");
  CHECK(with(little_endian(UINT64_MAX, 8) + "{}") ==
        "header: says it has 18446744073709551615 bytes, but the file has 10 in all");
  CHECK(with(little_endian(std::uint64_t{1} << 63, 8) + "{}") ==
        "header: says it has 9223372036854775808 bytes, but the file has 10 in all");
  write_bytes(path, little_endian(100'000'001, 8));
  std::filesystem::resize_file(path, 200'000'000);  // a hole: takes no disk
  CHECK(complaint(load, path) == "header: has 100000001 bytes, expects at most 100000000");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK(complaint(load, path) == "is a folder, expects a file");
  std::filesystem::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(complaint(load, path) == "is a pipe, expects a file");
}

TEST_CASE("every truncation and every damaged header byte") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.safetensors";
  save_safetensors(
      path, {{"w", tensor({{1.0, 2.0}, {3.0, 4.0}})}, {"flag", tensor({true, false})}, {"e", zeros({0})}},
      {{"k", "v"}});
  const std::string bytes = read_bytes(path);
  check_damage(bytes, bytes.size() - 18, path, [&] { load_safetensors(path); });
}

TEST_CASE("a header of many tiny tensors costs time and memory in proportion") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.safetensors";
  std::string header = "{";
  for (int i = 0; i < 20000; ++i)
    header +=
        (i ? "," : "") + ("\"" + std::to_string(i)) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  write_bytes(path, file_with(header + "}"));
  reset_peak_memory();
  const std::int64_t before = memory_stats().live_bytes;
  CHECK(load_safetensors(path).size() == 20000);
  CHECK(memory_stats().peak_bytes - before <= static_cast<std::int64_t>(4 * header.size()));
}
