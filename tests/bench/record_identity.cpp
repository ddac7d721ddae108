// What results that are the same bits for any number of threads cost: on one thread, work in the fixed pieces
// of the library beside the same work in one piece.

#include <nlohmann/json.hpp>

#include "bench/in_turn.h"
#include "bench/record.h"
#include "gradus/gradus.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/kernels/multiply.h"

namespace gradus::bench {

namespace {

using Json = nlohmann::ordered_json;

template <class Whole, class Pieces>
Json row(const std::string& what, Whole whole, Pieces pieces) {
  const auto one_thread = [] { set_num_threads(1); };
  const auto figures = in_turn(
      {{"", [=]() -> Step { return whole; }, one_thread}, {"", [=]() -> Step { return pieces; }, one_thread}},
      {.rounds = 12, .seconds = 0.05});
  return {{"what", what}, {"whole_s", figures[0].seconds}, {"pieces_s", figures[1].seconds}};
}

/// A product as a training step has it; small ones are repeated until they take a millisecond or so.
Json product(const std::string& what, std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t repeat = std::max<std::int64_t>(1, 100'000'000 / (m * n * k));
  const Tensor a = randn({m, k}), b = randn({k, n}), c = zeros({m, n});
  const float *pa = a.array().data<float>(), *pb = b.array().data<float>();
  float* pc = c.array().mutable_data<float>();
  return row(
      what,
      [=, keep = std::vector<Tensor>{a, b, c}] {
        for (std::int64_t i = 0; i < repeat; ++i)
          kernels::multiply<float>({.m = m, .n = n, .k = k, .a = {pa, k}, .b = {pb, n}, .c = pc, .ldc = n});
      },
      [=] {
        for (std::int64_t i = 0; i < repeat; ++i) array::matmul_into(a.array(), b.array(), c.array(), false);
      });
}

Json sum_of(std::int64_t n) {
  const Tensor x = randn({n});
  return row(
      "sum of 16 million",
      [x, n] {
        volatile float sink = kernels::table<float>().sum(n, x.array().data<float>());
        static_cast<void>(sink);
      },
      [x] { x.sum(); });
}

}  // namespace

Json record_identity() {
  Json rows = Json::array();
  rows.push_back(product("encoder: 1024 x 64 by 64 x 256", 1024, 256, 64));
  rows.push_back(product("char-gpt: 768 x 128 by 128 x 512", 768, 512, 128));
  rows.push_back(product("gpt2: 256 x 768 by 768 x 3072", 256, 3072, 768));
  rows.push_back(sum_of(16'000'000));
  return rows;
}

}  // namespace gradus::bench
