#pragma once
// T5 (Raffel et al. 2020, "Exploring the limits of transfer learning"): every task maps text to text. The
// blocks differ from those of the original Transformer in
//
//                     original (2017)             T5                           T5 v1.1
//   norms             Post-LN, LayerNorm          Pre-LN, RMSNorm              Pre-LN, RMSNorm
//   biases            everywhere                  none                         none
//   positions         waves added to embeddings   a value per head and bucket of distances, added to scores
//   scores            q k / sqrt(D)               q k (smaller initial weights compensate)
//   embeddings        times sqrt(C)               unscaled                     unscaled
//   FFN               ReLU                        ReLU                         gated, tanh GELU
//   head              the embedding               the embedding / sqrt(C)      its own

#include <string_view>

#include "gradus/nn/models/seq2seq_transformer.h"

namespace gradus::nn {

struct T5Options {
  std::int64_t vocab = 32'128;                          // V
  std::int64_t d_model = 0;                             // C
  std::int64_t d_kv = 64;                               // channels of each head, independent of C / heads
  std::int64_t d_ff = 0;                                // hidden size of the FFN
  std::int64_t heads = 0;                               // H
  std::int64_t encoder_layers = 0, decoder_layers = 0;  // blocks
  bool gated = false;                                   // the gated FFN of v1.1
  bool tied = true;                // the head is the scaled embedding; in v1.1 it is separate
  bool mt5 = false;                // saved as "mt5" (Xue et al. 2021), the multilingual v1.1, not as "t5"
  Placement placement = pre_ln();  // the position of the norms
  double dropout = 0.1;            // everywhere, in training
  double eps = 1e-6;               // of the norms
  std::int64_t buckets = 32, max_distance = 128;  // of the positions
  std::int64_t pad = 0, start = 0, end = 1;       // the decoder reads padding first
};

/// The published sizes: "small", "base", "large", "3b", "11b". Throws for any other, listing these names.
/// `nn::T5 model(nn::t5("small"));`
T5Options t5(std::string_view size);
/// The sizes of v1.1: "small", "base", "large", "xl", "xxl".
T5Options t5_v1_1(std::string_view size);

/// A Seq2SeqTransformer with its functions, such as loss(), generate() and save_pretrained(), which writes
/// the model_type that was loaded, or "gradus-t5" for a placement other than Pre-LN. Starts as in the
/// authors' code: N(0, 1 / fan_in), queries smaller by sqrt(D), embeddings N(0, 1). `nn::T5 model({.vocab =
/// 100, .d_model = 32, .d_kv = 8, .d_ff = 64, .heads = 4, .encoder_layers = 2, .decoder_layers = 2});`
struct T5 : Seq2SeqTransformer {
  explicit T5(const T5Options& options);

  /// The options of the Seq2SeqTransformer that a T5 is.
  static Seq2SeqOptions as_seq2seq(const T5Options& options);

  /// Loads a model from a folder in Hugging Face's format, model_type "t5" or "mt5", in eval mode.
  /// `nn::T5 model = nn::T5::load_pretrained("t5-small");`
  static T5 load_pretrained(const std::string& folder, const PretrainedOptions& options = {});
};

}  // namespace gradus::nn
