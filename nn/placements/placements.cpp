// The properties of the library's placements, side by side; their equations are in the headers of the
// families.

#include "gradus/nn/placements/placements.h"

#include <cctype>
#include <cmath>
#include <cstdio>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"

namespace gradus::nn {

namespace {

/// Marks a placement as the library's. All of these work position by position; a padding test checks each.
Placement ours(Placement placement) {
  placement.by_position = true;
  placement.block.owner = placement.decoder_block.owner = placement.enter.owner = placement.leave.owner =
      placement.name;
  return placement;
}

Tensor twice(const Tensor& x) { return stack({x, x}); }

}  // namespace

Placement pre_ln() {
  return ours({.name = "Pre-LN",
               .final_norm = true,
               .equation = "x + f(LN(x))",
               .paper = "Xiong et al. 2020, arXiv 2002.04745; GPT-2: Radford et al. 2019",
               .block = [](const BlockOptions& o) { return PreLNBlock(o); },
               .decoder_block = [](const BlockOptions& o) { return PreLNDecoderBlock(o); },
               .joinings = {{.branch = {"LN", "f"}}}});
}

Placement post_ln() {
  return ours({.name = "Post-LN",
               .equation = "LN(x + f(x))",
               .paper = "Vaswani et al. 2017, arXiv 1706.03762",
               .block = [](const BlockOptions& o) { return PostLNBlock(o); },
               .decoder_block = [](const BlockOptions& o) { return PostLNDecoderBlock(o); },
               .joinings = {{.branch = {"f"}, .after = "LN"}}});
}

Placement rezero() {
  return ours(placement<ReZero>({.name = "ReZero",
                                 .equation = "x + a f(x), a = 0 at the start",
                                 .paper = "Bachlechner et al. 2020, arXiv 2003.04887",
                                 .joinings = {{.branch = {"f", "a"}}}}));
}

Placement admin() {
  return ours(placement<Admin>(
      {.name = "Admin",
       .equation = "LN(x w + f(x)), w^2 = variance of x and all branches before",
       .paper = "Liu et al. 2020, arXiv 2004.08249",
       .prepare = [](const Module&, const std::function<void()>& forward) { profile_admin_(forward); },
       .joinings = {{.branch = {"f"}, .shortcut = "w", .after = "LN"}}}));
}

/// Without blocks.
static Placement deep_norm_row() {
  return {.name = "DeepNorm",
          .equation = "LN(a x + f(x)), a = (2L)^(1/4); others for encoder and decoder",
          .paper = "Wang et al. 2022, arXiv 2203.00555",
          .joinings = {{.branch = {"f"}, .shortcut = "a", .after = "LN"}}};
}

Placement deep_norm() {
  Placement row = deep_norm_row();
  row.block = [](const BlockOptions& o) { return Block<DeepNorm>(o); };
  row.decoder_block = [](const BlockOptions&) -> AnyDecoderBlock {
    fail(
        "DeepNorm: a model with a decoder has other numbers, in its encoder too: use "
        "deep_norm({.encoder_layers = N, .decoder_layers = M}) for both");
  };
  row.init = [](const Module& stack, const BlockOptions& o) {
    detail::set_deep_norm_weights_(stack, std::pow(8 * static_cast<double>(o.layers), -0.25));
  };
  row.of_both = [](std::int64_t encoder_layers, std::int64_t decoder_layers) {
    return deep_norm({.encoder_layers = encoder_layers, .decoder_layers = decoder_layers});
  };
  return ours(row);
}

Placement deep_norm(const DeepNormOptions& options) {
  check(options.encoder_layers > 0 && options.decoder_layers > 0,
        "DeepNorm: expects encoder_layers and decoder_layers of 1 or more, got {} and {}",
        options.encoder_layers, options.decoder_layers);
  const double n = static_cast<double>(options.encoder_layers);
  const double m = static_cast<double>(options.decoder_layers);
  const double both = std::pow(n * n * n * n * m, 1.0 / 16);
  const auto expect_depth = [](const BlockOptions& o, const char* stack, std::int64_t layers) {
    check(o.layers == layers,
          "DeepNorm: was made for {0} blocks in the {1}, this one has {2}: use deep_norm({{.encoder_layers = "
          "N, .decoder_layers = M}}) with .{1}_layers = {2}",
          layers, stack, o.layers);
  };
  Placement row = deep_norm_row();
  row.name = fmt::format("DeepNorm {}-{}", options.encoder_layers, options.decoder_layers);
  row.block = [=](const BlockOptions& o) {
    expect_depth(o, "encoder", options.encoder_layers);
    return Block<DeepNorm>(o, DeepNorm(o, 0.81 * both), DeepNorm(o, 0.81 * both));
  };
  row.decoder_block = [=](const BlockOptions& o) {
    expect_depth(o, "decoder", options.decoder_layers);
    const double a = std::pow(3 * m, 0.25);
    return DecoderBlock<DeepNorm>(o, DeepNorm(o, a), DeepNorm(o, a), DeepNorm(o, a));
  };
  row.init = [=](const Module& stack, const BlockOptions&) {
    const bool encoder = stack.kind() == "TransformerEncoder";
    detail::set_deep_norm_weights_(stack, encoder ? 0.87 / both : std::pow(12 * m, -0.25));
  };
  return ours(row);
}

Placement b2t() {
  return ours({.name = "B2T",
               .equation = "y = LN(x + Attn(x)), LN(x + y + FFN(y))",
               .paper = "Takase et al. 2022, arXiv 2206.00330",
               .block = [](const BlockOptions& o) { return B2TBlock(o); },
               .decoder_block = [](const BlockOptions& o) { return B2TDecoderBlock(o); }});
}

Placement resi_dual() {
  return ours(placement<ResiDual>(
      {.name = "ResiDual",
       .equation =
           "x <- LN(x + f(x)), r <- r + f(x), x and r the embedding at the start; at the end x + LN(r)",
       .paper = "Xie et al. 2023, arXiv 2304.14802",
       .enter = twice,
       .leave = [](const BlockOptions& o) { return ResiDualEnd(o); }}));
}

Placement no_norm() {
  return ours(placement<NoNorm>({.name = "no norm",
                                 .equation = "x + f(x)",
                                 .paper = "He et al. 2016, arXiv 1512.03385",
                                 .joinings = {{.branch = {"f"}}}}));
}

Placement olmo2() {
  return ours(placement<OutputNorm>({.name = "OLMo 2",
                                     .final_norm = true,
                                     .equation = "x + LN(f(x))",
                                     .paper = "Walsh et al. 2025, arXiv 2501.00656",
                                     .joinings = {{.branch = {"f", "LN"}}}}));
}

Placement mix_ln(double post_share) {
  expect_probability("Mix-LN", "post_share", post_share);
  const auto is_post = [post_share](const BlockOptions& o) {
    return static_cast<double>(o.layer) < std::floor(post_share * static_cast<double>(o.layers));
  };
  const bool usual = post_share == 0.25;
  const std::string first =
      usual ? "quarter of the blocks (under 4: in none)" : fmt::format("{} of the blocks", post_share);
  return ours({.name = usual ? "Mix-LN" : fmt::format("Mix-LN {}", post_share),
               .final_norm = true,
               .equation = fmt::format("LN(x + f(x)) in the first {}, then x + f(LN(x))", first),
               .paper = "Li et al. 2024, arXiv 2412.13795",
               .block = [is_post](const BlockOptions& o) -> AnyBlock {
                 if (is_post(o)) return PostLNBlock(o);
                 return PreLNBlock(o);
               },
               .decoder_block = [is_post](const BlockOptions& o) -> AnyDecoderBlock {
                 if (is_post(o)) return PostLNDecoderBlock(o);
                 return PreLNDecoderBlock(o);
               },
               .by_layer = true,
               .joinings = {{.branch = {"f"}, .after = "LN", .equation = "first LN(x + f(x))"},
                            {.branch = {"LN", "f"}, .equation = "then  x + f(LN(x))"}}});
}

Placement peri_ln() {
  return ours(placement<PeriLN>({.name = "Peri-LN",
                                 .final_norm = true,
                                 .equation = "x + LN(f(LN(x)))",
                                 .paper = "Kim et al. 2025, arXiv 2502.02732; Sandwich-LN: Ding et al. 2021",
                                 .aliases = {"Sandwich-LN"},
                                 .joinings = {{.branch = {"LN", "f", "LN"}}}}));
}

Placement ln_scaling() {
  return ours(placement<ScaledPreLN>({.name = "LN-Scaling",
                                      .final_norm = true,
                                      .equation = "x + f(LN(x) / sqrt(l)), l the block's number",
                                      .paper = "Sun et al. 2025, arXiv 2502.05795",
                                      .by_layer = true,
                                      .joinings = {{.branch = {"LN", "1 / √l", "f"}}}}));
}

Placement hybrid_norm() {
  const auto with_head_norms = [](BlockOptions options) {
    options.qk_norm = options.v_norm = true;
    return options;
  };
  return ours(
      {.name = "HybridNorm",
       .final_norm = true,
       .equation = "y = x + Attn(LN(q), LN(k), LN(v)), LN(y) + FFN(LN(y))",
       .paper = "Zhuo et al. 2025, arXiv 2503.04598",
       .block = [=](const BlockOptions& o) { return Block<NoNorm, NormedResidual>(with_head_norms(o)); },
       .decoder_block =
           [=](const BlockOptions& o) { return DecoderBlock<NoNorm, NormedResidual>(with_head_norms(o)); },
       .joinings = {{.branch = {"LN qkv", "Attn"}, .after = "LN", .equation = "x + Attn(LN(q,k,v))"},
                    {.branch = {"FFN"}, .equation = "LN(y) + FFN(LN(y))"}}});
}

Placement keel() {
  return ours({.name = "Keel",
               .equation = "LN(a x + f(LN(x))), a = 2L",
               .paper = "Chen & Wei 2026, arXiv 2601.19895",
               .block = [](const BlockOptions& o) { return Block<Keel>(o); },
               .joinings = {{.branch = {"LN", "f"}, .shortcut = "a", .after = "LN"}}});
}

Placement siamese_norm() {
  return ours({.name = "SiameseNorm",
               .equation = "x <- LN(x), z = f(LN(x + LN(y))), x <- x + z / sqrt(2l), y <- y + z, "
                           "x and y the embedding at the start; at the end LN(LN(x) + LN(y))",
               .paper = "Li et al. 2026, arXiv 2602.08064",
               .block = [](const BlockOptions& o) { return Block<SiameseNorm>(o); },
               .enter = twice,
               .leave = [](const BlockOptions& o) { return SiameseNormEnd(o); },
               .by_layer = true});
}

std::vector<Placement> placements() {
  return {pre_ln(), post_ln(), rezero(),  admin(),      deep_norm(),   b2t(),  resi_dual(),   no_norm(),
          olmo2(),  mix_ln(),  peri_ln(), ln_scaling(), hybrid_norm(), keel(), siamese_norm()};
}

/// Small letters and digits only.
static std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

Placement placement_named(std::string_view name) {
  const std::string wanted = plain(name);
  std::string names;
  for (const Placement& placement : placements()) {
    std::vector<std::string> known = placement.aliases;
    known.push_back(placement.name);
    for (const std::string& one : known)
      if (const std::string word = plain(one);
          word == wanted || word == wanted + "ln" || word == wanted + "norm")
        return placement;
    names += (names.empty() ? "" : ", ") + placement.name;
  }
  fail(fmt::format("placement_named: there is no placement '{}'; there are {}", name, names));
}

std::optional<Placement> find_placement(const std::string& name) {
  for (const Placement& placement : placements())
    if (placement.name == name) return placement;
  double share = 0;
  long long encoder = 0, decoder = 0;
  Placement made;
  if (std::sscanf(name.c_str(), "Mix-LN %lf", &share) == 1 && share >= 0 && share <= 1)
    made = mix_ln(share);
  else if (std::sscanf(name.c_str(), "DeepNorm %9lld-%9lld", &encoder, &decoder) == 2 && encoder > 0 &&
           decoder > 0)
    made = deep_norm({.encoder_layers = encoder, .decoder_layers = decoder});
  return made.name == name ? std::optional(made) : std::nullopt;
}

/// The word to type for a name: "pre" for "Pre-LN", "olmo2" for "OLMo 2".
static std::string short_name(const std::string& name) {
  std::string word = plain(name);
  for (const std::string_view end : {"ln", "norm"})
    if (word.size() > end.size() + 2 && word.ends_with(end)) word.resize(word.size() - end.size());
  return word;
}

std::string list_placements() {
  constexpr int width = 12;
  std::string lines;
  for (const Placement& p : placements())
    lines += fmt::format("{:<{}}{}: {}\n{:<{}}{}{}\n", short_name(p.name), width, p.name, p.equation, "",
                         width, p.paper, p.decoder_block ? "" : "; not for decoders with memory");
  return lines;
}

}  // namespace gradus::nn
