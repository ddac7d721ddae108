#pragma once
// Blocks whose norms are in unintended places, as frameworks and texts have shipped them.

#include <optional>
#include <string>
#include <vector>

#include "gradus/nn/nn.h"

namespace gradus::lab::blocks {

/// y = LN(x), y + f(y): PyTorch's norm_first of 2021 (#61165), burn's until 2024 (#1056).
struct NormedShortcut : nn::Module {
  explicit NormedShortcut(const nn::BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const {
    const Tensor y = norm(x);
    return y + f(y);
  }
  nn::Norm norm;
};

/// h = LN(x + Attn(x)), LN(x + FFN(h)): MLX's norm_first=False until 2024 (#1327).
struct LongSkipBlock : nn::BlockParts {
  explicit LongSkipBlock(const nn::BlockOptions& options) : BlockParts("LongSkipBlock", options) {}
  Tensor operator()(const Tensor& x, const nn::AttentionMasks& masks = {}) const {
    const Tensor h = norm1(x + dropout1(self_attn(x, masks)));
    return report(norm2(x + dropout2(ffn(h))));
  }
};

struct Variant {
  std::string name;      // "normed-shortcut"
  std::string title;     // for charts, as the ledger calls it
  std::string equation;  // "y = LN(x); y + f(y)"
  std::string shipped;   // who shipped it; empty for a right one
  std::string meant;     // the name of the intended block; empty for a right one
  nn::Placement placement;
  std::optional<bool> final_norm = {};
};

/// The two right ones first.
const std::vector<Variant>& variants();

/// The variant that was built and the one that was intended.
struct Mistake {
  std::string measure;  // the ledger's: "mutant.twice"
  std::string title;    // "final norm added (PyTorch #50086)"
  std::string made, meant;
};

/// Every wrong variant; then a right one in the wrong place, the Annotated Transformer's.
std::vector<Mistake> mistakes();

}  // namespace gradus::lab::blocks
