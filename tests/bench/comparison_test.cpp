#include "bench/comparison.h"

#include <doctest/doctest.h>

#include <set>

#include "bench/cases.h"
#include "bench/measure.h"
#include "bench/process.h"

namespace gradus::bench {
namespace {

const Comparison kGpt{"gpt2-124m", {0.525, 2213}, {1.05, 2698.4}, "2 threads, OpenMP build of OpenBLAS"};
const Comparison kTiny{"tiny-ops", {1e-6, 9}, {48.5e-6, 178}, "1 thread"};

Kernels kernels(const char* matmul, const char* ours, const char* theirs) {
  return {"avx512", matmul, ours, theirs, true, false};
}

TEST_CASE("comparison: rows stand under their heads") {
  CHECK(
      table_head() ==
      "case                  gradus      PyTorch   ratio      gradus     PyTorch   PyTorch's best setting\n");
  CHECK(table_row(kGpt) ==
        "gpt2-124m         525.000 ms      1.050 s   0.500     2213 MB     2698 MB   2 threads, OpenMP build "
        "of OpenBLAS\n");
  CHECK(table_row(kTiny) ==
        "tiny-ops            1.000 us    48.500 us   0.021        9 MB      178 MB   1 thread\n");
}

TEST_CASE("comparison: a row as JSON") {
  CHECK(json_row(kGpt) ==
        R"({"case":"gpt2-124m","gradus_s":0.525,"pytorch_s":1.05,"ratio":0.5,"gradus_peak_rss_mb":2213.0,)"
        R"("pytorch_peak_rss_mb":2698.4,"pytorch_setting":"2 threads, OpenMP build of OpenBLAS"})"
        "\n");
  Comparison half = kGpt;
  half.precision = "bf16";
  CHECK(json_row(half).ends_with(R"(OpenBLAS","precision":"bf16"})"
                                 "\n"));
}

TEST_CASE("comparison: bf16 without its instructions") {
  CHECK(slow_bf16("avx2") ==
        "bench: products in bf16 are no faster than in f32 here: avx2 kernels, and AMX, AVX512-BF16 or "
        "BFMMLA is needed "
        "(on a CPU that has it, without GRADUS_ISA and GRADUS_BF16)\n");
}

TEST_CASE("comparison: medians") {
  CHECK(median({3}) == 3);
  CHECK(median({5, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 100}) == 3);
  CHECK_THROWS_WITH(median({}), "median of nothing");
}

TEST_CASE("comparison: durations") {
  CHECK(human_seconds(1.05) == "1.050 s");
  CHECK(human_seconds(0.0257) == "25.700 ms");
  CHECK(human_seconds(4.5e-7) == "0.450 us");
}

TEST_CASE("comparison: who multiplies") {
  CHECK(describe(kernels("gradus", "SkylakeX", "SkylakeX"), 2) ==
        "2 threads, avx512 kernels, matrix products by gradus; OpenBLAS: SkylakeX");
  CHECK(describe(kernels("automatic", "SkylakeX", ""), 1) ==
        "1 thread, avx512 kernels, matrix products by gradus or OpenBLAS; OpenBLAS: SkylakeX");
  CHECK(describe(kernels("openblas", "SkylakeX", ""), 1) ==
        "1 thread, avx512 kernels, matrix products by OpenBLAS; OpenBLAS: SkylakeX");
  CHECK(describe(kernels("gradus", "Haswell", "Zen"), 2) ==
        "2 threads, avx512 kernels, matrix products by gradus; OpenBLAS: Haswell (Zen in PyTorch)");
}

TEST_CASE("comparison: kernels below what the CPU has are warned of") {
  CHECK(unequal_kernels(kernels("gradus", "SkylakeX", "SkylakeX")) == "");
  CHECK(unequal_kernels(kernels("gradus", "Haswell", "Cooperlake")) == "");  // OpenBLAS stands by in gradus
  CHECK(unequal_kernels(kernels("automatic", "Haswell", "Cooperlake")) == "");  // which never takes these
  CHECK(unequal_kernels(kernels("gradus", "Haswell", "")) == "");               // PyTorch has another BLAS

  Kernels set = kernels("gradus", "Haswell", "Haswell");
  set.coretype_is_set = true;
  CHECK(unequal_kernels(set) ==
        "This CPU has AVX-512, but OpenBLAS runs its Haswell kernels, which do not use it: OPENBLAS_CORETYPE "
        "is set. PyTorch's matrix products take about twice as long as they could, gradus's do not: the "
        "ratios flatter gradus. To compare without it: env -u OPENBLAS_CORETYPE ./run bench ...");
  CHECK(unequal_kernels(kernels("openblas", "Zen", "Zen")) ==
        "This CPU has AVX-512, but OpenBLAS runs its Zen kernels, which do not use it. Matrix products take "
        "about twice as long as they could, on both sides.");
  CHECK(unequal_kernels(kernels("openblas", "Zen", "SkylakeX")) ==
        "This CPU has AVX-512, but OpenBLAS runs its Zen kernels, which do not use it. gradus's matrix "
        "products take about twice as long as they could, PyTorch's do not.");
  set.cpu_has_avx512 = false;
  CHECK(unequal_kernels(set) == "");
}

TEST_CASE("bench: a program's output, status, environment and memory") {
  const Output said = run({{"sh", "-c", "echo $WORD; exit 7"}, {{"WORD", "hello"}}});
  CHECK(said.text == "hello\n");
  CHECK(said.status == 7);
  CHECK(said.peak_rss_mb > 0);
  CHECK(run({{"sh", "-c", "kill -KILL $$"}}).status == 128 + 9);
  CHECK(run({{"there-is-no-such-program"}}).status == 127);
}

TEST_CASE("bench: cases have names of their own, and all three kinds of figures") {
  std::set<std::string> names;
  for (const Case& c : all_cases()) {
    CHECK(names.insert(c.name).second);
    CHECK(c.what != "");
    CHECK(c.repeat >= 1);
  }
  int runs = 0;
  const Case counted{"counted", "counts its runs", [&] { return [&] { ++runs; }; }, 5};
  const Timing timing = measure(counted, 4);
  CHECK(timing.steps >= 4);
  CHECK(runs % 5 == 0);
  CHECK(runs >= 5 * (3 + timing.steps));
  CHECK(timing.min_s <= timing.median_s);
}

}  // namespace
}  // namespace gradus::bench
