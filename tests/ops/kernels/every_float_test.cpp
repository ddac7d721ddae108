// Every one of the 2^32 floats through functions that promise 2 ulp, on every instruction set. That takes ten
// minutes of CPU time, so it runs by hand: kernels_tests --no-skip -tc='every float*'
// (sin and cos, which are libm's for most floats, are left to million_unary_test.cpp.)

#include <mutex>

#include "gradus/core/detail/bits.h"
#include "gradus/core/threads/parallel.h"
#include "kernel_test.h"
#include "references.h"

namespace gradus::test {
namespace {

using kernels::Unary;

struct Case {
  const char* name;
  Unary op;
  double (*exact)(double);
};

/// What the sweep of one function on one instruction set found.
struct Findings {
  double largest = 0;  // error in ulps, infinite where NaN, an infinity or the sign of a zero is wrong
  std::uint32_t at = 0;
  I above_one = 0;

  void add(double error, std::uint32_t bits) {
    above_one += error > 1;
    if (error > largest) largest = error, at = bits;
  }
  /// The smaller bits among equals: threads change nothing.
  void add(const Findings& other) {
    above_one += other.above_one;
    if (other.largest > largest || (other.largest == largest && other.at < at))
      largest = other.largest, at = other.at;
  }
};

double error_of(float got, double want) {
  const bool wrong_zero = want == 0 && got == 0 && std::signbit(got) != std::signbit(want);
  return wrong_zero ? std::numeric_limits<double>::infinity() : ulps(got, want);
}

using Tables = std::vector<std::pair<std::string, const kernels::Table<float>*>>;

/// The findings of each table on the floats with bits begin .. begin + n - 1.
std::vector<Findings> sweep_block(const Case& c, const Tables& tables, std::uint32_t begin, std::size_t n) {
  std::vector<float> x(n), y(n);
  std::vector<double> want(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = bit_cast<float>(begin + static_cast<std::uint32_t>(i));
    want[i] = c.exact(static_cast<double>(x[i]));
  }
  std::vector<Findings> findings(tables.size());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    tables[t].second->unary[static_cast<int>(c.op)](static_cast<I>(n), x.data(), y.data());
    for (std::size_t i = 0; i < n; ++i)
      findings[t].add(error_of(y[i], want[i]), begin + static_cast<std::uint32_t>(i));
  }
  return findings;
}

std::vector<Findings> sweep(const Case& c, const Tables& tables) {
  std::vector<Findings> findings(tables.size());
  std::mutex mutex;
  const auto block = [&](I begin, I end) {
    const auto part =
        sweep_block(c, tables, static_cast<std::uint32_t>(begin), static_cast<std::size_t>(end - begin));
    const std::lock_guard lock(mutex);
    for (std::size_t t = 0; t < part.size(); ++t) findings[t].add(part[t]);
  };
  parallel_for(I{1} << 32, I{1} << 16, block, Wake::at_once);
  return findings;
}

TEST_CASE("every float is within 2 ulp" * doctest::skip()) {
  Tables tables;
  on_every_isa<float>(
      [&](const kernels::Table<float>& table) { tables.emplace_back(name(current_isa()), &table); });
  const Case cases[] = {
      {"exp", Unary::exp, std::exp},       {"tanh", Unary::tanh, std::tanh},
      {"erf", Unary::erf, std::erf},       {"log", Unary::log, std::log},
      {"log1p", Unary::log1p, std::log1p}, {"rsqrt", Unary::rsqrt, [](double x) { return 1 / std::sqrt(x); }},
      {"expm1", Unary::expm1, std::expm1}, {"log2", Unary::log2, std::log2},
  };
  for (const Case& c : cases) {
    const std::vector<Findings> findings = sweep(c, tables);
    for (std::size_t t = 0; t < tables.size(); ++t) {
      const Findings& f = findings[t];
      MESSAGE(std::string(c.name), " ", tables[t].first, ": at most ", f.largest, " ulp, at ",
              bit_cast<float>(f.at), "; more than 1 ulp: ", f.above_one);
      CHECK(f.largest <= 2);
    }
  }
}

}  // namespace
}  // namespace gradus::test
