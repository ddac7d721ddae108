// Choosing an instruction set.

#include <cstdio>
#include <string>

#include "gradus/core/error.h"
#include "kernel_test.h"
#include "support.h"

namespace gradus::test {
namespace {

TEST_CASE("instruction sets have the names GRADUS_ISA takes") {
  CHECK(std::string(name(Isa::scalar)) == "scalar");
  CHECK(std::string(name(Isa::avx2)) == "avx2");
  CHECK(std::string(name(Isa::avx512)) == "avx512");
  CHECK(std::string(name(Isa::neon)) == "neon");
  CHECK(std::string(name(Isa::simd128)) == "simd128");
}

TEST_CASE("set_isa switches both tables, and throws where the CPU lacks the instruction set") {
  const Isa before = current_isa();
  CHECK(isa_supported(Isa::scalar));
  CHECK(isa_supported(before));
  for (Isa isa : kIsas) {
    if (!isa_supported(isa)) {
      const std::string message =
          std::string("set_isa: this CPU does not have ") + name(isa) + "; ask isa_supported first";
      CHECK_THROWS_WITH_AS(set_isa(isa), message.c_str(), Error);
      continue;
    }
    set_isa(isa);
    CHECK(current_isa() == isa);
    const bool is_scalar_f32 = &kernels::table<float>() == &kernels::scalar_table<float>();
    const bool is_scalar_f64 = &kernels::table<double>() == &kernels::scalar_table<double>();
    CHECK(is_scalar_f32 == (isa == Isa::scalar));
    CHECK(is_scalar_f64 == (isa == Isa::scalar));
  }
  set_isa(before);
}

TEST_CASE("report the instruction set" * doctest::skip()) {  // run below, in a process of its own
  try {
    std::printf("[%s]\n", name(current_isa()));
  } catch (const Error& error) {
    std::printf("[%s]\n", error.what());
  }
}

/// What a fresh process with this GRADUS_ISA chooses, or its error.
std::string choice_with(const std::string& value) {
  const std::string output = output_of_child("GRADUS_ISA='" + value + "'", "report the instruction set");
  for (std::size_t at = output.find('['); at != std::string::npos; at = output.find('[', at + 1))
    // doctest's own lines begin with [doctest]
    if (output.compare(at, 8, "[doctest") != 0) return output.substr(at + 1, output.find("]\n", at) - at - 1);
  return output;
}

TEST_CASE("GRADUS_ISA chooses the instruction set, and a wrong value is an error that says what to do") {
  const std::string remedy =
      "; set GRADUS_ISA to scalar, avx2, avx512, neon or simd128, or leave it unset for the best this CPU "
      "has";
  CHECK(choice_with("sse9") ==
        "GRADUS_ISA: expected scalar, avx2, avx512, neon or simd128, got 'sse9'" + remedy);
  Isa best = Isa::scalar;
  for (Isa isa : kIsas) {
    const std::string value = name(isa);
    if (isa_supported(isa)) best = isa;
    CHECK(choice_with(value) ==
          (isa_supported(isa) ? value : "GRADUS_ISA: this CPU does not have " + value + remedy));
  }
  CHECK(choice_with("") == name(best));
}

}  // namespace
}  // namespace gradus::test
