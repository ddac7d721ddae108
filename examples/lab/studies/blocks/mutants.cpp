#include "lab/studies/blocks/mutants.h"

namespace gradus::lab::blocks {

const std::vector<Variant>& variants() {
  nn::Placement long_skip{.name = "long skip"};
  long_skip.block = [](const nn::BlockOptions& options) { return LongSkipBlock(options); };
  static const std::vector<Variant> all = {
      {.name = "pre",
       .title = "Pre-LN",
       .equation = "x + f(LN(x)), a final norm",
       .shipped = "",
       .meant = "",
       .placement = nn::pre_ln()},
      {.name = "post",
       .title = "Post-LN",
       .equation = "LN(x + f(x))",
       .shipped = "",
       .meant = "",
       .placement = nn::post_ln()},
      {.name = "normed-shortcut",
       .title = "normed shortcut (PyTorch #61165)",
       .equation = "y = LN(x); y + f(y), a final norm",
       .shipped = "PyTorch's norm_first in 2021 (#61165), burn's until 2024 (#1056)",
       .meant = "pre",
       .placement = nn::placement<NormedShortcut>({.name = "normed shortcut", .final_norm = true})},
      {.name = "branch-output",
       .title = "norm on the branch's output (flashlight)",
       .equation = "x + LN(f(x)), no final norm",
       .shipped = "flashlight's preLN",
       .meant = "pre",
       .placement = nn::placement<nn::OutputNorm>({.name = "norm on the output"})},
      {.name = "no-final",
       .title = "no final norm",
       .equation = "x + f(LN(x)), no final norm",
       .shipped = "stacks that leave it to the user",
       .meant = "pre",
       .placement = nn::pre_ln(),
       .final_norm = false},
      {.name = "long-skip",
       .title = "long skip (MLX #1327)",
       .equation = "h = LN(x + Attn(x)); LN(x + FFN(h))",
       .shipped = "MLX's norm_first=False until 2024 (#1327)",
       .meant = "post",
       .placement = long_skip},
      {.name = "twice",
       .title = "final norm added (PyTorch #50086)",
       .equation = "LN(x + f(x)), one more norm at the end",
       .shipped = "PyTorch's nn.Transformer (#50086, #24930)",
       .meant = "post",
       .placement = nn::post_ln(),
       .final_norm = true},
  };
  return all;
}

std::vector<Mistake> mistakes() {
  std::vector<Mistake> all;
  for (const Variant& variant : variants())
    if (!variant.meant.empty())
      all.push_back({.measure = "mutant." + variant.name,
                     .title = variant.title,
                     .made = variant.name,
                     .meant = variant.meant});
  all.push_back({.measure = "mutant.code-pre",
                 .title = "Pre-LN in the code (Annotated Transformer)",
                 .made = "pre",
                 .meant = "post"});
  return all;
}

}  // namespace gradus::lab::blocks
