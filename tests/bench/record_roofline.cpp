// The roofline: multiply-adds a second, bytes a second, and where ops stand under them.

#include <nlohmann/json.hpp>

#include "bench/in_turn.h"
#include "bench/peak.h"
#include "bench/record.h"
#include "gradus/gradus.h"

namespace gradus::bench {

namespace {

using Json = nlohmann::ordered_json;

/// An op with the work it cannot do without: operations of its formula (an exponential, tanh or erf counted
/// as 20, about what it takes), bytes of inputs and outputs read and written once.
struct Point {
  std::string group, name;
  double flops, bytes;
  std::function<Step()> make;
};

Point product(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& group,
              const std::string& name) {
  const auto M = static_cast<double>(m), N = static_cast<double>(n), K = static_cast<double>(k);
  const int repeat = M * N * K < 1e7 ? 50 : 1;
  return {group, name, repeat * 2 * M * N * K, repeat * 4 * (M * K + K * N + M * N), [=]() -> Step {
            return [a = randn({m, k}), b = randn({k, n}), repeat] {
              for (int i = 0; i < repeat; ++i) matmul(a, b);
            };
          }};
}

Point of_case(const std::string& group, const std::string& name, double flops, double bytes) {
  return {group, name, flops, bytes, case_called(name).make};
}

std::vector<Point> points() {
  std::vector<Point> all;
  for (const std::int64_t n : {16, 32, 64, 128, 256, 512, 1024, 2048})
    all.push_back(product(n, n, n, "n x n matrix products", "n = " + std::to_string(n)));
  all.push_back(product(1, 8192, 8192, "row times matrix", "8192 x 8192"));
  const double T = 1024, HD = 512, tokens = 4096;
  // Seven products of T x T x D, half of each hidden by the mask; q, k, v, y, dy, dq, dk, dv and y once more.
  all.push_back(of_case("attention", "attention-1024", 7 * T * T * HD + 6 * 20 * T * T, 9 * 4 * T * HD));
  // Forward reads x and writes y; backward reads two arrays and writes dx.
  all.push_back(of_case("GELU", "gelu", (30 + 60) * tokens * 3072, 5 * 4 * tokens * 3072));
  all.push_back(of_case("softmax", "softmax", (24 + 4) * tokens * 1024, 5 * 4 * tokens * 1024));
  all.push_back(of_case("layer norm", "layernorm", (8 + 14) * tokens * 768, 5 * 4 * tokens * 768));
  // Reads gradient, weight and two moments, writes all but the first.
  all.push_back(of_case("AdamW", "adam-124m", 14 * 124e6, 7 * 4 * 124e6));
  constexpr std::int64_t n = 32 << 20;
  all.push_back(
      {"add", "a + b", n, 12.0 * n, []() -> Step { return [a = randn({n}), b = randn({n})] { a + b; }; }});
  return all;
}

Json peaks(int threads) {
  set_num_threads(threads);
  return {{"threads", threads},
          {"gflops", peak_flops() / 1e9},
          {"read_gbytes", read_bandwidth() / 1e9},
          {"update_gbytes", update_bandwidth() / 1e9},
          {"copy_gbytes", copy_bandwidth() / 1e9}};
}

}  // namespace

Json record_peaks() {
  const int threads = num_threads();
  return Json::array({peaks(1), peaks(threads)});
}

Json record_points() {
  Json rows = Json::array();
  for (const Point& point : points()) {
    const double seconds = in_turn({{point.name, point.make}})[0].seconds;
    rows.push_back({{"group", point.group},
                    {"name", point.name},
                    {"flops_per_byte", point.flops / point.bytes},
                    {"gflops", point.flops / seconds / 1e9},
                    {"gbytes", point.bytes / seconds / 1e9}});
  }
  return rows;
}

}  // namespace gradus::bench
