#include "bench/record.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/in_turn.h"
#include "bench/written_out.h"
#include "gradus/gradus.h"

namespace gradus::bench {
namespace {

using nlohmann::json;

json read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return json::parse(in);
}

TEST_CASE("record: rows of a comparison replace those of the same case, and nothing else") {
  const auto file =
      std::filesystem::temp_directory_path() / ("gradus-record-" + std::to_string(getpid()) + ".json");
  std::ofstream(file) << R"({"depth":[{"layers":1}]})";
  record_comparison(file, R"({"case":"a","ratio":0.512345})"
                          "\n"
                          R"({"case":"b","ratio":2.0})"
                          "\n");
  record_comparison(file, R"({"case":"a","ratio":0.25})");
  record_comparison(file, R"({"case":"a","ratio":0.75,"precision":"bf16"})");
  const json kept = read(file);
  std::filesystem::remove(file);
  CHECK(kept["depth"] == json::parse(R"([{"layers":1}])"));
  CHECK(kept["pytorch"] == json::parse(R"([{"case":"a","ratio":0.25},{"case":"b","ratio":2.0}])"));
  CHECK(kept["pytorch_bf16"] == json::parse(R"([{"case":"a","precision":"bf16","ratio":0.75}])"));
  CHECK(kept["measured"]["matmul"] == name(matmul_backend()));
  CHECK(kept["measured_bf16"]["matmul"] == name(bf16_backend_in_use()));
  CHECK(kept["measured_bf16"]["version"] == version());
}

TEST_CASE("record: numbers keep three digits") {
  const auto file =
      std::filesystem::temp_directory_path() / ("gradus-digits-" + std::to_string(getpid()) + ".json");
  record_comparison(file, R"({"case":"a","gradus_s":0.00123456,"gradus_peak_rss_mb":1234.56})");
  const json kept = read(file);
  std::filesystem::remove(file);
  CHECK(kept["pytorch"][0]["gradus_s"] == 0.00123);
  CHECK(kept["pytorch"][0]["gradus_peak_rss_mb"] == 1230);
}

TEST_CASE("in_turn: every variant has its turns, its switch and its memory; settings come back") {
  const int before = num_threads();
  int entered = 0, steps[2] = {0, 0};
  const auto figures =
      in_turn({{"small", [&]() -> Step { return [&, x = zeros({1000})] { ++steps[0]; }; },
                [&] {
                  ++entered;
                  set_num_threads(3);
                }},
               {"large",
                [&]() -> Step {
                  return [&] {
                    ++steps[1];
                    CHECK(num_threads() == 3);  // left by the other, as this one sets nothing
                    zeros({1'000'000});
                  };
                }}},
              {.rounds = 2, .seconds = 0});
  CHECK(entered == 3);
  CHECK(steps[0] >= 2 + 1 + 2 * 3);
  CHECK(steps[1] >= 2 + 1 + 2 * 3);
  CHECK(figures[0].peak_bytes < 100'000);
  CHECK(figures[1].peak_bytes >= 4'000'000);
  CHECK(num_threads() == before);
}

TEST_CASE("written_out: attention by plain ops is the fused op") {
  manual_seed(0);
  const Tensor q = randn({1, 2, 9, 4}), k = randn({1, 2, 9, 4}), v = randn({1, 2, 9, 4});
  CHECK(allclose(attention_written_out(q, k, v), attention_fused(q, k, v), 1e-5, 1e-6));
}

}  // namespace
}  // namespace gradus::bench
