#include "gradus/core/io/npy.h"

#include <doctest/doctest.h>

#include <vector>

#include "check_op.h"
#include "core/io/hostile.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

using Values = std::vector<double>;

std::filesystem::path golden(const std::string& name) { return source_file("tests/golden/io/" + name); }

const std::string kMagic = "\x93NUMPY";

std::string version1(const std::string& header, const std::string& data = "") {
  return kMagic + std::string("\1\0", 2) + little_endian(header.size(), 2) + header + data;
}

std::string version2(const std::string& header, const std::string& data = "") {
  return kMagic + std::string("\2\0", 2) + little_endian(header.size(), 4) + header + data;
}

}  // namespace

TEST_CASE("files made by NumPy load") {
  const Values x = {1.5, -2, 3, 4, 5, 6.25};
  for (const char* name : {"f4.npy", "version2.npy", "f8_column_major.npy"}) {
    const Tensor y = load_npy(golden(name));
    CHECK(y.shape() == Shape{2, 3});
    CHECK(y.dtype() == (std::string(name).starts_with("f8") ? f64 : f32));
    CHECK(y.is_contiguous());
    CHECK(y.to_vector<double>() == x);
  }
  CHECK(load_npy(golden("i8.npy")).shape() == Shape{1, 2, 2});
  CHECK(load_npy(golden("i8.npy")).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{1, -2, 3, std::int64_t{1} << 62});
  CHECK(load_npy(golden("b1.npy")).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK(load_npy(golden("scalar.npy")).item() == 2.5);
  CHECK(load_npy(golden("scalar.npy")).dim() == 0);
  CHECK(load_npy(golden("empty.npy")).shape() == Shape{0, 3});
}

TEST_CASE("narrow integers made by NumPy become i64") {
  const Tensor x = load_npy(golden("i4.npy")), y = load_npy(golden("u1_column_major.npy"));
  CHECK(x.dtype() == i64);
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, -2, 3, INT32_MAX, INT32_MIN, 0});
  CHECK(y.dtype() == i64);
  CHECK(y.shape() == Shape{2, 3});
  CHECK(y.to_vector<int>() == std::vector<int>{0, 1, 127, 128, 255, 7});
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.npy";
  write_bytes(path, version1("{'descr': '|u1', 'fortran_order': False, 'shape': (0, 4)}"));
  CHECK(load_npy(path).shape() == Shape{0, 4});
  const std::string many(100003, '\xfe');
  write_bytes(path, version1("{'descr': '|u1', 'fortran_order': False, 'shape': (100003,)}", many));
  CHECK((load_npy(path) == 254).all());
}

TEST_CASE("saved files have NumPy's bytes") {
  const ScratchFolder folder;
  const std::string path = folder / "x.npy";
  save_npy(path, tensor({{1.5, -2.0, 3.0}, {4.0, 5.0, 6.25}}));
  CHECK(read_bytes(path) == read_bytes(golden("f4.npy")));
  save_npy(path, tensor({{{1, -2}, {3, std::int64_t{1} << 62}}}));
  CHECK(read_bytes(path) == read_bytes(golden("i8.npy")));
  save_npy(path, tensor({true, false, true}));
  CHECK(read_bytes(path) == read_bytes(golden("b1.npy")));
  save_npy(path, tensor(2.5, f64));
  CHECK(read_bytes(path) == read_bytes(golden("scalar.npy")));
  save_npy(path, zeros({0, 3}));
  CHECK(read_bytes(path) == read_bytes(golden("empty.npy")));
}

TEST_CASE("views are saved with their elements") {
  const ScratchFolder folder;
  const std::string path = folder / "x.npy";
  const Tensor x = arange(60).reshape({3, 4, 5}).permute({2, 0, 1}).slice(1, 0, {}, 2);
  save_npy(path, x);
  CHECK(load_npy(path).shape() == Shape{5, 2, 4});
  CHECK(load_npy(path).to_vector<double>() == x.to_vector<double>());
  const std::string column_major = "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3, 1), }\n";
  std::string data;
  for (int i = 0; i < 6; ++i) data += little_endian(static_cast<std::uint64_t>(i), 8);
  write_bytes(path, version1(column_major, data));
  CHECK(load_npy(path).to_vector<double>() == Values{0, 2, 4, 1, 3, 5});
}

TEST_CASE("headers other writers make") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.npy";
  for (const char* header : {"{'descr':'<f4','fortran_order':False,'shape':(2,)}",
                             "{\"shape\": (2,), \"fortran_order\": False, \"descr\": \"<f4\"}   \n",
                             "  { 'fortran_order' : True , 'descr' : '<f4' , 'shape' : ( 2 , ) , }\n",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2,)}"}) {
    CAPTURE(header);
    write_bytes(path, version1(header, std::string(8, '\0')));
    CHECK(complaint([&] { load_npy(path); }, path) == "");
    write_bytes(path, version2(header, std::string(8, '\0')));
    CHECK(complaint([&] { load_npy(path); }, path) == "");
  }
}

TEST_CASE("an invalid file is an error that names the problem") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.npy";
  const auto load = [&] { load_npy(path); };
  const auto with = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    return complaint(load, path);
  };
  struct Case {
    std::string header, message;
  };
  const std::string start = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  const std::string types = " is not one of '<f4', '<f8', '<i8', '|b1', '<f2', '<i4' and '|u1'";
  const std::vector<Case> cases = {
      {"", "header: expects '{', got ''"},
      {"(", "header: expects '{', got '('"},
      {"{", "header: expects ''', got ''"},
      {"{}", "header: expects descr, fortran_order and shape"},
      {"{} x", "header: expects descr, fortran_order and shape"},
      {"{'descr'}", "header: expects ':', got '}'"},
      {"{'descr", "header: expects a closing quote, got 'descr'"},
      {"{'descr': }", "header: expects ''', got '}'"},
      {"{'descr': '<f4'", "header: expects ',' or '}', got ''"},
      {"{'descr': '<f4' 'shape': (2,)}", "header: expects ',' or '}', got ''shape': (2,)}'"},
      {"{'descr': '<f4', 'descr': '<f4'}", "header: key 'descr' is unknown or appears twice"},
      {"{'strides': (1,)}", "header: key 'strides' is unknown or appears twice"},
      {"{'': 1}", "header: key '' is unknown or appears twice"},
      {"{'descr': '<f4', 'shape': (2,)}", "header: expects descr, fortran_order and shape"},
      {"{'descr': '<f4', 'fortran_order': False}", "header: expects descr, fortran_order and shape"},
      {"{'descr': '>f4'}", "descr '>f4'" + types},
      {"{'descr': '<c8'}", "descr '<c8'" + types},
      {"{'descr': '<i2'}", "descr '<i2'" + types},
      {"{'descr': '>i4'}", "descr '>i4'" + types},
      {"{'descr': '|i1'}", "descr '|i1'" + types},
      {"{'descr': '<c8'}", "descr '<c8'" + types},
      {"{'descr': '|O'}", "descr '|O'" + types},
      {"{'descr': '<U5'}", "descr '<U5'" + types},
      {"{'descr': ''}", "descr ''" + types},
      {"{'descr': [('a', '<f4')]}", "header: expects ''', got '[('a', '<f4')]}'"},
      {"{'fortran_order': 0}", "header: expects True or False, got '0}'"},
      {"{'fortran_order': true}", "header: expects True or False, got 'true}'"},
      {start + "2}", "header: expects '(', got '2}'"},
      {start + "[2]}", "header: expects '(', got '[2]}'"},
      {start + "(2)}", "header: expects ',', got ')}'"},
      {start + "(2,", "header: expects a size, got ''"},
      {start + "(,)}", "header: expects a size, got ',)}'"},
      {start + "(2,,)}", "header: expects a size, got ',)}'"},
      {start + "(1 2)}", "header: expects ',', got '2)}'"},
      {start + "(-2,)}", "header: expects a size, got '-2,)}'"},
      {start + "(02,)}", "header: expects a size without leading zeros, got '02,)}'"},
      {start + "(1, 002)}", "header: expects a size without leading zeros, got '002)}'"},
      {start + "(00, 2)}", "header: expects a size without leading zeros, got '00, 2)}'"},
      {start + "(+2,)}", "header: expects a size, got '+2,)}'"},
      {start + "(0_2,)}", "header: expects ',', got '_2,)}'"},
      {start + "(0x2,)}", "header: expects ',', got 'x2,)}'"},
      {start + "(2e0,)}", "header: expects ',', got 'e0,)}'"},
      {start + "(2L,)}", "header: expects ',', got 'L,)}'"},
      {start + "(2.0,)}", "header: expects ',', got '.0,)}'"},
      {start + "(99999999999999999999,)}", "header: expects a size, got '99999999999999999999'"},
      {start + "(1,1,1,1,1,1,1,1,2)}", "header: expects at most 8 axes"},
      {start + "(2,)} {}", "header: expects nothing more, got '{}'"},
      {start + "(2,)}" + std::string(1, '\0'), "header: expects nothing more, got '?'"},
      {start + "(3,)}", "has 8 bytes of data, expects 12 for f32 [3]"},
      {start + "(1,)}", "has 8 bytes of data, expects 4 for f32 [1]"},
      {start + "()}", "has 8 bytes of data, expects 4 for f32 []"},
      {start + "(0, 7)}", "has 8 bytes of data, expects 0 for f32 [0, 7]"},
      {start + "(4611686018427387904,)}",
       "shape [4611686018427387904] has more elements than memory can address"},
      {start + "(4294967296, 4294967296)}",
       "shape [4294967296, 4294967296] has more elements than memory can address"},
      {start + "(0, 4294967296, 4294967296)}",
       "shape [0, 4294967296, 4294967296] has more elements than memory can address"},
      {start + "(1099511627776,)}", "has 8 bytes of data, expects 4398046511104 for f32 [1099511627776]"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}",
       "has 8 bytes of data, expects 12 for <i4 [3]"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2)}",
       "has 8 bytes of data, expects 4 for |u1 [2, 2]"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2305843009213693952,)}",
       "shape [2305843009213693952] has more elements than memory can address"},
      {"{'descr': '|b1', 'fortran_order': False, 'shape': (8,)}",
       "element 3 is not a bool: expects a byte of 0 or 1"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.header);
    const std::string data("\1\0\1\3\0\0\0\1", 8);
    CHECK(with(version1(c.header, data)) == c.message);
    CHECK(with(version2(c.header, data)) == c.message);
  }
  CHECK(with("") == "has 0 bytes, expects 10 or more");
  CHECK(with(kMagic) == "has 6 bytes, expects 10 or more");
  CHECK(with("\x93NUMPX\1\0\0\0") == "has 7 bytes, expects 10 or more");
  CHECK(with(std::string(20, 'x')) == "does not start with \\x93NUMPY");
  CHECK(with(kMagic + std::string("\0\0\0\0", 4)) == "version 0.0 is not 1.0 or 2.0");
  CHECK(with(kMagic + std::string("\3\0\0\0", 4)) == "version 3.0 is not 1.0 or 2.0");
  CHECK(with(kMagic + std::string("\1\1\0\0", 4)) == "version 1.1 is not 1.0 or 2.0");
  CHECK(with(kMagic + std::string("\1\0\377\377", 4)) ==
        "header: says it has 65535 bytes, but the file has 10 in all");
  CHECK(with(kMagic + std::string("\2\0\0\0", 4)) ==
        "header: says it has 0 bytes, but the file has 10 in all");
  CHECK(with(kMagic + std::string("\2\0\377\377\377\377", 6)) ==
        "header: says it has 4294967295 bytes, but the file has 12 in all");
  std::filesystem::remove(path);
  CHECK(complaint(load, path) == "cannot open: No such file or directory");
  CHECK(complaint([&] { load_npy(folder.path()); }, folder.path()) == "is a folder, expects a file");
}

TEST_CASE("every truncation and every damaged header byte") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.npy";
  for (const char* name : {"f4.npy", "f8_column_major.npy", "version2.npy", "i4.npy", "u1_column_major.npy"})
    check_damage(read_bytes(golden(name)), 128, path, [&] { load_npy(path); });
}

TEST_CASE("save_npy: errors") {
  const ScratchFolder folder;
  const std::string path = folder / "no/x.npy";
  check_error([&] { save_npy(path, Tensor()); }, "save_npy: " + path + ": the tensor is undefined");
  check_error([&] { save_npy(path, ones({1})); },
              "save_npy: " + path + ": cannot create a file in its folder: No such file or directory");
}
