// The choice of what multiplies bf16.

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "gradus/core/error.h"
#include "gradus/ops/backend.h"
#include "support.h"

namespace gradus::test {
namespace {

constexpr Bf16Backend kAll[] = {Bf16Backend::automatic, Bf16Backend::amx, Bf16Backend::avx512,
                                Bf16Backend::bfmmla, Bf16Backend::in_f32};
const std::string kRemedy =
    "set GRADUS_BF16 to automatic, amx, avx512, bfmmla or f32, or leave it unset for the fastest this CPU "
    "has";

std::string missing(Bf16Backend backend, const std::string& remedy) {
  const std::string what = backend == Bf16Backend::amx ? "AMX for bf16, or the system does not permit it; "
                           : backend == Bf16Backend::avx512 ? "AVX512-BF16; "
                                                            : "ARM's BFMMLA, or the system does not say so; ";
  return "this CPU does not have " + what + remedy;
}

TEST_CASE("backend: names of what multiplies bf16, and what is set is used or an error") {
  CHECK(std::string(name(Bf16Backend::automatic)) == "automatic");
  CHECK(std::string(name(Bf16Backend::amx)) == "amx");
  CHECK(std::string(name(Bf16Backend::avx512)) == "avx512");
  CHECK(std::string(name(Bf16Backend::bfmmla)) == "bfmmla");
  CHECK(std::string(name(Bf16Backend::in_f32)) == "f32");
  CHECK(bf16_backend_supported(Bf16Backend::automatic));
  CHECK(bf16_backend_supported(Bf16Backend::in_f32));
  if (bf16_backend_supported(Bf16Backend::amx)) CHECK(bf16_backend_supported(Bf16Backend::avx512));
  if (bf16_backend_supported(Bf16Backend::avx512)) CHECK(isa_supported(Isa::avx512));
  if (bf16_backend_supported(Bf16Backend::bfmmla)) CHECK(isa_supported(Isa::neon));
  const Bf16Backend before = bf16_backend();
  for (const Bf16Backend backend : kAll) {
    if (bf16_backend_supported(backend)) {
      set_bf16_backend(backend);
      CHECK(bf16_backend() == backend);
      CHECK(bf16_backend_in_use() != Bf16Backend::automatic);
      if (backend != Bf16Backend::automatic) CHECK(bf16_backend_in_use() == backend);
    } else {
      const Bf16Backend kept = bf16_backend();
      const std::string said =
          missing(backend, "Bf16Backend::automatic is the fastest this CPU has, and in_f32 runs on all");
      CHECK_THROWS_WITH_AS(set_bf16_backend(backend), ("set_bf16_backend: " + said).c_str(), Error);
      CHECK(bf16_backend() == kept);
    }
  }
  set_bf16_backend(before);
  CHECK_THROWS_WITH_AS(set_bf16_backend(static_cast<Bf16Backend>(77)),
                       "set_bf16_backend: expects automatic, amx, avx512, bfmmla or in_f32, got 77", Error);
}

TEST_CASE("report what multiplies bf16" * doctest::skip()) {  // run below, in a process of its own
  try {
    std::printf("[%s]\n", name(bf16_backend()));
  } catch (const Error& error) {
    std::printf("[%s]\n", error.what());
  }
}

/// Whether a fresh process with this GRADUS_BF16 prints [line].
bool prints(const std::string& value, const std::string& line) {
  const std::string output = output_of_child("GRADUS_BF16='" + value + "'", "report what multiplies bf16");
  return output.find("[" + line + "]\n") != std::string::npos;
}

TEST_CASE("backend: GRADUS_BF16 chooses, and a wrong value is an error with a remedy") {
  CHECK(prints("", "automatic"));
  for (const Bf16Backend backend : kAll)
    CHECK(prints(name(backend), bf16_backend_supported(backend)
                                    ? name(backend)
                                    : "GRADUS_BF16: " + missing(backend, kRemedy)));
  CHECK(
      prints("bf16", "GRADUS_BF16: expected automatic, amx, avx512, bfmmla or f32, got 'bf16'; " + kRemedy));
}

}  // namespace
}  // namespace gradus::test
