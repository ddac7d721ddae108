// What each technique gives: the same work without it and with it, in turn.

#include <sys/prctl.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/in_turn.h"
#include "bench/record.h"
#include "bench/written_out.h"
#include "gradus/gradus.h"

namespace gradus::bench {

namespace {

using Json = nlohmann::ordered_json;

/// A comparison as a row: times and peak memory without and with.
Json row(const std::string& technique, const std::string& on, const Variant& without, const Variant& with,
         const Turns& turns = {}) {
  const auto figures = in_turn({without, with}, turns);
  return {{"technique", technique},
          {"on", on},
          {"without", without.name},
          {"without_s", figures[0].seconds},
          {"with_s", figures[1].seconds},
          {"without_bytes", static_cast<double>(figures[0].peak_bytes)},
          {"with_bytes", static_cast<double>(figures[1].peak_bytes)}};
}

/// The same case with something switched.
template <class F, class G>
Json switched(const std::string& technique, const std::string& name, const std::string& without, F off,
              G on) {
  const Case c = case_called(name);
  return row(technique, name, {without, c.make, off}, {"", c.make, on});
}

void huge_pages(bool on) { prctl(PR_SET_THP_DISABLE, on ? 0 : 1, 0, 0, 0); }

/// A case that gives its memory back after each step, as a program without a cache would.
std::function<Step()> forgetful(const std::string& name) {
  return [make = case_called(name).make]() -> Step {
    return [step = make()] {
      step();
      empty_cache();
    };
  };
}

}  // namespace

Json record_kernels() {
  Json rows = Json::array();
  for (const char* name : {"char-gpt", "encoder-12", "gpt2-124m"})
    rows.push_back(switched(
        "own matrix products", name, "OpenBLAS", [] { set_matmul_backend(MatmulBackend::openblas); },
        [] { set_matmul_backend(MatmulBackend::gradus); }));
  const auto use = [](Isa isa) { return [isa] { set_isa(isa); }; };
  for (const char* name : {"gelu", "layernorm"})
    if (isa_supported(Isa::avx2))
      rows.push_back(switched("AVX2", name, "scalar kernels", use(Isa::scalar), use(Isa::avx2)));
  for (const char* name : {"gelu", "layernorm", "char-gpt"})
    if (isa_supported(Isa::avx512))
      rows.push_back(switched("AVX-512", name, "AVX2", use(Isa::avx2), use(Isa::avx512)));
  return rows;
}

Json record_memory() {
  Json rows = Json::array();
  for (const char* name : {"gelu", "gpt2-124m"})
    rows.push_back(row("caching allocator", name, {"none between steps", forgetful(name)},
                       {"", case_called(name).make}));
  const auto small = [] { huge_pages(false); };
  const auto huge = [] { huge_pages(true); };
  rows.push_back(switched("huge pages", "gpt2-124m", "pages of 4 KiB", small, huge));
  rows.push_back(row("huge pages, no cache", "gelu", {"pages of 4 KiB", forgetful("gelu"), small},
                     {"", forgetful("gelu"), huge}));
  huge_pages(true);
  return rows;
}

Json record_fused() {
  Json rows = Json::array();
  const auto attention = [](AttentionOp op) { return [op] { return attention_step(1024, op); }; };
  rows.push_back(row("fused attention", "T 1024, 8 x 64, causal",
                     {"matmul, softmax, matmul", attention(attention_written_out)},
                     {"", attention(attention_fused)}));
  rows.push_back(row("linear_cross_entropy", "1024 x 768 x 50257",
                     {"linear, cross_entropy", [] { return head_step(false); }},
                     {"", [] { return head_step(true); }}));
  rows.push_back(row("layer norm as one op", "4096 x 768",
                     {"mean, sub, square, ...", [] { return norm_step(false); }},
                     {"", [] { return norm_step(true); }}));
  rows.push_back(row("GELU as one op", "4096 x 3072", {"erf, add, mul, mul", [] { return gelu_step(false); }},
                     {"", [] { return gelu_step(true); }}));
  rows.push_back(row("AdamW in one pass", "31 million weights",
                     {"ops on whole tensors", [] { return adamw_step(false); }},
                     {"", [] { return adamw_step(true); }}));
  rows.push_back(row("cached keys and values", "token 512, 6-layer GPT",
                     {"all tokens again", [] { return token_step(false); }},
                     {"", [] { return token_step(true); }}));
  return rows;
}

}  // namespace gradus::bench
