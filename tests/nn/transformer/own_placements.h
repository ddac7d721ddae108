#pragma once
// Placements and blocks that are not the library's, for the tests of both.

#include <string>
#include <vector>

#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"

namespace gradus::test {

inline const nn::BlockOptions kSmall{.d_model = 4, .heads = 2, .d_ff = 6};

struct PeriLN : nn::Module {
  explicit PeriLN(const nn::BlockOptions& o) : in(add("in", o.new_norm())), out(add("out", o.new_norm())) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return x + out(f(in(x))); }
  nn::Norm in, out;
};

// [streams]
/// ResiDual (Xie et al. 2023): a Post-LN stream, which the branch reads, and x plus all branches.
struct ResiDual : nn::Module {
  explicit ResiDual(const nn::BlockOptions& o) : norm(add("", o.new_norm())) {}
  Tensor operator()(const Tensor& streams, const nn::Branch& f) const {
    const Tensor y = f(streams[0]);
    return stack({norm(streams[0] + y), streams[1] + y});
  }
  nn::Norm norm;
};

struct JoinStreams : nn::Module {
  explicit JoinStreams(const nn::BlockOptions& o) : norm(add("", o.new_norm())) {}
  Tensor operator()(const Tensor& streams) const { return streams[0] + norm(streams[1]); }
  nn::Norm norm;
};

inline nn::Placement resi_dual() {
  return nn::placement<ResiDual>({.name = "My ResiDual",
                                  .enter =
                                      [](const Tensor& x) {
                                        return stack({x, x});
                                      },
                                  .leave = [](const nn::BlockOptions& o) { return JoinStreams(o); }});
}
// [/streams]

/// Post-LN in the lower half, Pre-LN above.
inline nn::Placement mixed() {
  return {.name = "mixed", .final_norm = true, .block = [](const nn::BlockOptions& o) -> nn::AnyBlock {
            if (o.layer < o.layers / 2) return nn::PostLNBlock(o);
            return nn::PreLNBlock(o);
          }};
}

/// A block that is none of the library's: x + Attn(LN(x)) + FFN(LN(x)).
struct Parallel : nn::Module {
  explicit Parallel(const nn::BlockOptions& o)
      : norm(add("norm", o.new_norm())),
        attention(add("attention", nn::MultiheadAttention(o.attention()))),
        ffn(add("ffn", nn::FFN(o.ffn()))) {}
  Tensor operator()(const Tensor& x, const nn::AttentionMasks& masks, nn::KeyValues* cache) const {
    const Tensor y = norm(x);
    return x + attention(y, masks, cache) + ffn(y);
  }
  nn::KeyValues new_cache(std::int64_t batch, std::int64_t capacity) const {
    return attention.new_cache(batch, capacity);
  }
  nn::Norm norm;
  nn::MultiheadAttention attention;
  nn::FFN ffn;
};

/// A block that sees one position at a time and takes nothing but the stream.
struct Pointwise : nn::Module {
  explicit Pointwise(const nn::BlockOptions& o) : ffn(add("ffn", nn::FFN(o.ffn()))) {}
  Tensor operator()(const Tensor& x) const { return x + ffn(x); }
  nn::FFN ffn;
};

template <class B>
nn::Placement of_blocks(const std::string& name) {
  return {.name = name, .final_norm = true, .block = [](const nn::BlockOptions& o) { return B(o); }};
}

inline std::vector<nn::Placement> own_placements() {
  return {nn::placement<PeriLN>({.name = "Peri-LN", .final_norm = true}), resi_dual(), mixed(),
          of_blocks<Parallel>("parallel")};
}

inline nn::GPT gpt_of(const nn::Placement& placement, bool recompute = false) {
  const nn::GPT gpt({.vocab = 7,
                     .context = 9,
                     .layers = 4,
                     .placement = placement,
                     .block = {.d_model = 8, .heads = 2},
                     .checkpoint = recompute});
  randomize(gpt);
  return gpt;
}

}  // namespace gradus::test
