#pragma once
// T5 (Raffel et al. 2020, "Exploring the limits of transfer learning"): every task as text from text. The
// blocks are those of the original Transformer but for
//
//                     original (2017)             T5                           T5 v1.1
//   norms             Post-LN, LayerNorm          Pre-LN, RMSNorm              Pre-LN, RMSNorm
//   biases            everywhere                  none                         none
//   positions         waves added to embeddings   a number per head and bucket of distances, on the scores
//   scores            q k / sqrt(D)               q k (its initial weights make up for it)
//   embeddings        times sqrt(C)               as they are                  as they are
//   FFN               ReLU                        ReLU                         gated, tanh GELU
//   head              the embedding               the embedding / sqrt(C)      its own

#include <string_view>

#include "gradus/nn/models/seq2seq_transformer.h"

namespace gradus::nn {

struct T5Options {
  std::int64_t vocab = 32'128;                          // V
  std::int64_t d_model = 0;                             // C
  std::int64_t d_kv = 64;                               // channels of each head, whatever C / heads is
  std::int64_t d_ff = 0;                                // hidden size of the FFN
  std::int64_t heads = 0;                               // H
  std::int64_t encoder_layers = 0, decoder_layers = 0;  // blocks
  bool gated = false;                                   // the gated FFN of v1.1
  bool tied = true;  // the head is the embedding, scaled; in v1.1 it is not
  bool mt5 = false;  // saved as "mt5" (Xue et al. 2021), the v1.1 of many languages, not as "t5"
  Placement placement = pre_ln();                 // where the norms stand
  double dropout = 0.1;                           // everywhere, in training
  double eps = 1e-6;                              // of the norms
  std::int64_t buckets = 32, max_distance = 128;  // of the positions
  std::int64_t pad = 0, start = 0, end = 1;       // the decoder reads padding first
};

/// The published sizes: "small", "base", "large", "3b", "11b". Throws on any other, with these names.
/// `nn::T5 model(nn::t5("small"));`
T5Options t5(std::string_view size);
/// Those of v1.1: "small", "base", "large", "xl", "xxl".
T5Options t5_v1_1(std::string_view size);

/// A Seq2SeqTransformer, with its calls, loss(), generate() and save_pretrained() among them: it writes the
/// model_type it was read from, and of another placement than Pre-LN "gradus-t5". Starts as the authors' code
/// does, section by section: N(0, 1 / fan_in), queries smaller by sqrt(D), embeddings N(0, 1). `nn::T5
/// model({.vocab = 100, .d_model = 32, .d_kv = 8, .d_ff = 64, .heads = 4, .encoder_layers = 2,
/// .decoder_layers = 2});`
struct T5 : Seq2SeqTransformer {
  explicit T5(const T5Options& options);

  /// What a T5 is among the models of its kind.
  static Seq2SeqOptions as_seq2seq(const T5Options& options);

  /// A model from a folder as Hugging Face has it, model_type "t5" or "mt5", in eval mode.
  /// `nn::T5 model = nn::T5::load_pretrained("t5-small");`
  static T5 load_pretrained(const std::string& folder, const PretrainedOptions& options = {});
};

}  // namespace gradus::nn
