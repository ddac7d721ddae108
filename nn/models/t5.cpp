#include "gradus/nn/models/t5.h"

#include <array>
#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/init.h"

namespace gradus::nn {

namespace {

void normal_for_fan(const Tensor& w, std::int64_t fan_in) {
  init::normal_(w, 0, 1 / std::sqrt(static_cast<double>(fan_in)));
}

void initialize_t5(const Seq2SeqTransformer& model) {
  const BlockOptions& block = model.options().block;
  for (const auto& [name, w] : model.named_parameters()) {
    if (name.ends_with("in_proj_weight")) {
      const std::int64_t queries = block.heads * block.head_dim;
      normal_for_fan(w.slice(0, 0, queries), block.d_model * block.head_dim);
      normal_for_fan(w.slice(0, queries), block.d_model);
    } else if (name.ends_with("_bias.weight")) {  // of positions
      normal_for_fan(w, block.d_model);
    } else if (name == "embedding.weight" || name == "head.weight") {
      init::normal_(w, 0, 1);
    } else if (w.dim() == 2) {
      normal_for_fan(w, w.size(1));
    }
  }
}

struct T5Size {
  std::string_view name;
  std::int64_t d_model, d_kv, d_ff, heads, layers;
};

template <std::size_t N>
T5Options options_of_size(const char* caller, const std::array<T5Size, N>& sizes, std::string_view wanted) {
  std::string names;
  for (const T5Size& s : sizes) {
    if (s.name == wanted)
      return {.d_model = s.d_model,
              .d_kv = s.d_kv,
              .d_ff = s.d_ff,
              .heads = s.heads,
              .encoder_layers = s.layers,
              .decoder_layers = s.layers};
    names += (names.empty() ? "" : ", ") + std::string(s.name);
  }
  fail(fmt::format("{}: there is no size '{}': expects one of {}", caller, wanted, names));
}

}  // namespace

T5Options t5(std::string_view size) {
  return options_of_size("t5",
                         std::array<T5Size, 5>{{{"small", 512, 64, 2048, 8, 6},
                                                {"base", 768, 64, 3072, 12, 12},
                                                {"large", 1024, 64, 4096, 16, 24},
                                                {"3b", 1024, 128, 16'384, 32, 24},
                                                {"11b", 1024, 128, 65'536, 128, 24}}},
                         size);
}

T5Options t5_v1_1(std::string_view size) {
  T5Options options = options_of_size("t5_v1_1",
                                      std::array<T5Size, 5>{{{"small", 512, 64, 1024, 6, 8},
                                                             {"base", 768, 64, 2048, 12, 12},
                                                             {"large", 1024, 64, 2816, 16, 24},
                                                             {"xl", 2048, 64, 5120, 32, 24},
                                                             {"xxl", 4096, 64, 10'240, 64, 24}}},
                                      size);
  options.gated = true;
  options.tied = false;
  return options;
}

Seq2SeqOptions T5::as_seq2seq(const T5Options& o) {
  expect_positive("T5", "d_model", o.d_model);
  expect_positive("T5", "d_kv", o.d_kv);
  expect_positive("T5", "d_ff", o.d_ff);
  return {.vocab = o.vocab,
          .encoder_layers = o.encoder_layers,
          .decoder_layers = o.decoder_layers,
          .placement = o.placement,
          .block = {.d_model = o.d_model,
                    .heads = o.heads,
                    .d_ff = o.d_ff,
                    .activation = o.gated ? Activation::gelu_tanh : Activation::relu,
                    .gated = o.gated,
                    .dropout = o.dropout,
                    .bias = false,
                    .eps = o.eps,
                    .norm = make_norm<RMSNorm>,
                    .head_dim = o.d_kv,
                    .attention_scale = 1},
          .positions = Positions::relative,
          .buckets = o.buckets,
          .max_distance = o.max_distance,
          .tied = o.tied,
          .scale_embedding = false,
          .output_scale = o.tied ? 1 / std::sqrt(static_cast<double>(o.d_model)) : 1,
          .output_dropout = true,
          .pad = o.pad,
          .start = o.start,
          .end = o.end};
}

T5::T5(const T5Options& options)
    : Seq2SeqTransformer("T5", options.mt5 ? "mt5" : "t5", as_seq2seq(options), &initialize_t5) {}

}  // namespace gradus::nn
