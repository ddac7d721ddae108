#pragma once
// The original Transformer (Vaswani et al. 2017): an encoder reads one text, a decoder writes another.

#include <optional>
#include <string>

#include "gradus/nn/attention/relative_bias.h"
#include "gradus/nn/layers/embedding.h"
#include "gradus/nn/layers/positions.h"
#include "gradus/nn/models/beam_search.h"
#include "gradus/nn/models/generate.h"
#include "gradus/nn/models/transformer.h"
#include "gradus/nn/pretrained/pretrained.h"

namespace gradus::nn {

struct Seq2SeqOptions {
  std::int64_t vocab = 0;         // V, tokens of the target, and of the source unless source_vocab is set
  std::int64_t source_vocab = 0;  // tokens of the source; 0: those of the target
  std::int64_t context = 512;     // the maximum length of either text if positions come from a table
  std::int64_t encoder_layers = 6, decoder_layers = 6;  // blocks
  Placement placement = post_ln();                      // of both stacks
  BlockOptions block = {};  // the paper: .d_model = 512, .heads = 8, .dropout = 0.1
  // Not given: the placement's default. True with post_ln() is PyTorch's nn.Transformer.
  std::optional<bool> final_norm = {};
  Positions positions = Positions::sinusoidal;
  Waves waves = Waves::interleaved;
  std::int64_t buckets = 32, max_distance = 128;  // of relative positions: see RelativeBias
  bool shared_embeddings = true;  // source and target share an embedding if they share a vocabulary
  bool tied = true;               // the head's weight is the target's embedding
  bool head_bias = false;         // adds a trained value to each token's logit
  bool scale_embedding = true;    // multiplies embeddings by sqrt(C), section 3.4
  double output_scale = 1;        // multiplies the input of the head
  bool output_dropout = false;    // also applies dropout to the output of both stacks
  std::int64_t pad = 0;           // fills shorter rows of both texts at the end
  std::int64_t start = 1;         // the decoder's first input
  std::int64_t end = 2;           // the last token of a target
  bool checkpoint = false;        // keep only each block's input for backward and run the block again
};

/// The encoder's output for a source, for any number of decode() calls.
struct EncoderOutput {
  Tensor memory;        // [B, Ts, C]
  Tensor padding = {};  // [B, Ts] bool, true where the source is padding; undefined: no padding
};

struct Seq2SeqLossOptions {
  double label_smoothing = 0;  // the paper: 0.1 (section 5.4)
};

/// An encoder and a decoder with embeddings, positions and a head; any placement. Texts are i64 ids [B, T],
/// padded at the end with options().pad.
/// `nn::Seq2SeqTransformer model({.vocab = 8000, .block = {.d_model = 256, .heads = 4, .dropout = 0.1}});`
/// Starts like PyTorch's nn.Transformer, with matrices Xavier uniform; embeddings are N(0, 1 / C).
struct Seq2SeqTransformer : Module {
  explicit Seq2SeqTransformer(const Seq2SeqOptions& options);

  /// The next token's logits at every position of the decoder's input: source [B, Ts], target_in =
  /// shifted(target) [B, Tt] -> [B, Tt, V].
  Tensor operator()(const Tensor& source, const Tensor& target_in) const;
  /// Mean cross-entropy of the target's tokens [B, Tt]: each row ends with options().end (unless the text was
  /// truncated) and padding, which is ignored at little cost; 0 if all is padding. Throws if a row has
  /// padding before other tokens or begins with options().start, which the model adds.
  /// `model.loss(source, target, {.label_smoothing = 0.1})`
  Tensor loss(const Tensor& source, const Tensor& target, const Seq2SeqLossOptions& options = {}) const;
  /// The decoder's input for target [B, Tt]: the start token, then all columns except the last.
  Tensor shifted(const Tensor& target) const;

  /// Encodes the source [B, Ts], once for any number of targets.
  EncoderOutput encode(const Tensor& source) const;
  /// The logits of operator(): target_in [B, Tt] -> [B, Tt, V].
  Tensor decode(const Tensor& target_in, const EncoderOutput& source) const;
  /// The same for target_in that follows the tokens in `cache`, and is added to it. Works without a tape;
  /// needs eval mode if there is dropout. Pass the same `source` to every call, also after cache.select().
  Tensor decode(const Tensor& target_in, const EncoderOutput& source, KeyValueCache& cache) const;
  /// Only the logits after the last token, [B, V].
  Tensor next_logits(const Tensor& target_in, const EncoderOutput& source, KeyValueCache& cache) const;
  /// The decoder's final states, which the head multiplies, for your own head: source [B, Ts], target_in
  /// [B, Tt] -> [B, Tt, C]. After the final norm if there is one, output_dropout and output_scale; dropout
  /// acts in training. The encoder's states are encode(source).memory. Throws like operator().
  /// `Tensor scores = my_head(model.hidden(source, model.shifted(target)));`
  Tensor hidden(const Tensor& source, const Tensor& target_in) const;
  /// The same for an encoded source, like decode().
  Tensor hidden(const Tensor& target_in, const EncoderOutput& source) const;
  /// The same with a cache, like decode().
  Tensor hidden(const Tensor& target_in, const EncoderOutput& source, KeyValueCache& cache) const;
  /// The head: hidden [..., C] -> [..., V]. `model.logits(model.hidden(source, target_in))` equals
  /// `model(source, target_in)` bit for bit.
  Tensor logits(const Tensor& hidden) const;
  /// An empty cache for `batch` targets of at most `capacity` tokens.
  KeyValueCache new_cache(std::int64_t batch, std::int64_t capacity) const;

  /// Generates a target of at most `count` tokens for each source [B, Ts]: [B, T], each row up to its end
  /// token and then only padding; [T] for a source [Ts]. Rows that have ended cost nothing. Works in eval
  /// mode, without a tape. `Tensor ids = model.generate(source, 60, {.greedy = true});` Ignores
  /// options.slide.
  Tensor generate(const Tensor& source, std::int64_t count, const GenerateOptions& options = {}) const;
  /// The same for a tokenizer's ids, including the end token: `model.generate(tokenizer.encode("Ja."), 60)`
  std::vector<std::int64_t> generate(const std::vector<std::int64_t>& source, std::int64_t count,
                                     const GenerateOptions& options = {}) const;
  /// The targets of each source [B, Ts] found by beam search, best first; the end token is always a stop
  /// token, and padding is never chosen. `model.beam_search(source, {.beams = 4, .count = 60})[0][0].tokens`
  ListOf<ListOf<Hypothesis>> beam_search(const Tensor& source, const BeamOptions& options) const;

  /// Loads a model from a folder in Hugging Face's format, model_type "marian", in eval mode.
  /// `auto model = nn::Seq2SeqTransformer::load_pretrained("opus-mt-de-en");`
  static Seq2SeqTransformer load_pretrained(const std::string& folder, const PretrainedOptions& options = {});
  /// Writes such a folder; with options that Marian does not have, its model_type is "gradus-marian". A T5 is
  /// saved as a T5, also through a handle to this class.
  void save_pretrained(const std::string& folder, const SavePretrainedOptions& options = {}) const;

  /// The given options, with defaults filled in.
  const Seq2SeqOptions& options() const& { return options_; }
  Seq2SeqOptions options() const&& { return options_; }

  Embedding embedding;  // of the target's tokens, and the source's unless there is a source_embedding
  std::optional<Embedding> source_embedding;                           // these depend on the options
  std::optional<LearnedPositions> source_positions, target_positions;  // [context, C]
  std::optional<SinusoidalPositions> position_waves;                   // fixed sines and cosines
  std::optional<RelativeBias> encoder_bias, decoder_bias;              // T5's
  Dropout dropout;                                                     // on the embedded tokens
  TransformerEncoder encoder;                                          // reads the source
  TransformerDecoder decoder;  // reads target_in and the encoder's output
  std::optional<Linear> head;  // only when not tied
  Parameter head_bias;         // [V]; undefined without

 protected:
  /// For a derived model: saved as `model_type`, with its own initial values.
  Seq2SeqTransformer(const char* kind, const char* model_type, const Seq2SeqOptions& options,
                     void (*initialize)(const Seq2SeqTransformer& model));

 private:
  void expect_text(const char* what, const Tensor& ids, std::int64_t vocab) const;
  void expect_source(const Tensor& source) const;
  void expect_target(const Tensor& target) const;
  void expect_in_context(const char* what, const Tensor& ids, std::int64_t begin) const;
  Tensor embedded(const Tensor& ids, const Embedding& table, const std::optional<LearnedPositions>& learned,
                  std::int64_t begin) const;
  Tensor states(const Tensor& target_in, const EncoderOutput& source, KeyValueCache* cache = nullptr,
                const Tensor& padding = {}) const;
  Seq2SeqOptions options_;
  std::string model_type_;  // "marian", "t5" or "mt5"
};

}  // namespace gradus::nn
