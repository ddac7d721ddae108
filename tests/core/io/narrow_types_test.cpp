// Tensors of types that are widened on reading.

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/io/hostile.h"
#include "gradus/core/detail/bits.h"
#include "gradus/core/io/safetensors.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

/// The tensor of a file that holds these bytes as `count` numbers of one type.
Tensor read_as(const std::string& type, std::size_t count, const std::string& data) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.safetensors";
  const std::string header = "{\"w\":{\"dtype\":\"" + type + "\",\"shape\":[" + std::to_string(count) +
                             "],\"data_offsets\":[0," + std::to_string(data.size()) + "]}}";
  write_bytes(path, little_endian(header.size(), 8) + header + data);
  return load_safetensors(path).at("w");
}

std::string all_patterns() {
  std::string bytes;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) bytes += little_endian(bits, 2);
  return bytes;
}

/// (-1)^sign 2^exponent (1 + fraction), or without the 1 at the lowest exponent; the highest is not finite.
double value_of(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const double sign = bits >> 15 ? -1 : 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double fraction = bits & ((1u << fraction_bits) - 1);
  if (exponent == (1 << exponent_bits) - 1)
    return sign * (fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN());
  const double one = exponent == 0 ? 0 : std::ldexp(1.0, fraction_bits);
  return sign * std::ldexp(one + fraction, std::max(exponent, 1) - bias - fraction_bits);
}

/// sum of bits(i) (2654435761 i + 1), modulo 2^64.
std::uint64_t fingerprint(const std::vector<float>& values) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    sum += bit_cast<std::uint32_t>(values[i]) * (2654435761u * std::uint64_t{i} + 1);
  return sum;
}

void check_values(const std::vector<float>& values, int exponent_bits, int fraction_bits) {
  REQUIRE(values.size() == 65536);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const double expected = value_of(bits, exponent_bits, fraction_bits), got = values[bits];
    CAPTURE(bits);
    if (std::isnan(expected))
      CHECK(std::isnan(got));
    else
      CHECK(got == expected);
    CHECK(std::signbit(got) == (bits >> 15 != 0));
  }
}

}  // namespace

TEST_CASE("F16: every pattern, as NumPy widens it") {
  const Tensor x = read_as("F16", 65536, all_patterns());
  CHECK(x.dtype() == f32);
  check_values(x.to_vector<float>(), 5, 10);
  CHECK(fingerprint(x.to_vector<float>()) == 3791163630058209280u);
}

TEST_CASE("BF16: every pattern, as PyTorch widens it") {
  const Tensor x = read_as("BF16", 65536, all_patterns());
  CHECK(x.dtype() == f32);
  check_values(x.to_vector<float>(), 8, 7);
  CHECK(fingerprint(x.to_vector<float>()) == 12888151619169943552u);
}

TEST_CASE("narrow integers become i64") {
  const auto check_ends = [](const std::string& type, int bytes, std::int64_t least, std::int64_t most) {
    CAPTURE(type);
    std::string data;
    for (const std::int64_t value : {least, std::int64_t{0}, std::int64_t{1}, most})
      data += little_endian(static_cast<std::uint64_t>(value), bytes);
    const Tensor x = read_as(type, 4, data);
    CHECK(x.dtype() == i64);
    CHECK(x.to_vector<std::int64_t>() == std::vector<std::int64_t>{least, 0, 1, most});
  };
  check_ends("I8", 1, -128, 127);
  check_ends("I16", 2, -32768, 32767);
  check_ends("I32", 4, INT32_MIN, INT32_MAX);
  check_ends("U8", 1, 0, 255);
  check_ends("U16", 2, 0, 65535);
  check_ends("U32", 4, 0, UINT32_MAX);
  CHECK(read_as("U8", 0, "").shape() == Shape{0});
}

TEST_CASE("widening allocates only the tensor's memory") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.safetensors";
  const std::string header = R"({"w":{"dtype":"BF16","shape":[1000,1000],"data_offsets":[0,2000000]}})";
  write_bytes(path, little_endian(header.size(), 8) + header + std::string(2'000'000, '\x3f'));
  reset_peak_memory();
  const std::int64_t before = memory_stats().live_bytes;
  const StateDict loaded = load_safetensors(path);
  CHECK(loaded.at("w").array().at({999, 999}) == bit_cast<float>(0x3f3f0000u));
  CHECK(memory_stats().peak_bytes - before <= 4'194'304);
}

TEST_CASE("every truncation and every damaged header byte of narrow types") {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "x.safetensors";
  const std::string header =
      R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]},)"
      R"("u":{"dtype":"U8","shape":[3],"data_offsets":[6,9]}})";
  const std::string bytes = little_endian(header.size(), 8) + header + std::string(9, '\x11');
  check_damage(bytes, bytes.size() - 9, path, [&] { load_safetensors(path); });
}
