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
  std::int64_t vocab = 0;         // V, tokens of the target, and of the source unless that has its own
  std::int64_t source_vocab = 0;  // tokens of a source that has its own; 0: they are the target's
  std::int64_t context = 512;     // the most tokens either text has, where positions come from a table
  std::int64_t encoder_layers = 6, decoder_layers = 6;  // blocks
  Placement placement = post_ln();                      // of both stacks
  BlockOptions block = {};  // the paper: .d_model = 512, .heads = 8, .dropout = 0.1
  // Not given: as the placement has it. True with post_ln() is PyTorch's nn.Transformer, which has one more.
  std::optional<bool> final_norm = {};
  Positions positions = Positions::sinusoidal;
  Waves waves = Waves::interleaved;
  std::int64_t buckets = 32, max_distance = 128;  // of relative positions: see RelativeBias
  bool shared_embeddings = true;  // source and target have one embedding, where they have one vocabulary
  bool tied = true;               // the head's weight is the target's embedding
  bool head_bias = false;         // a number added to each token's logit
  bool scale_embedding = true;    // embeddings are multiplied by sqrt(C), section 3.4
  double output_scale = 1;        // what the head sees is multiplied by this
  bool output_dropout = false;    // dropout on what leaves either stack too
  std::int64_t pad = 0;           // fills the ends of shorter rows, of both texts
  std::int64_t start = 1;         // what the decoder reads first
  std::int64_t end = 2;           // the last token of a target
  bool checkpoint = false;        // keep only each block's input for backward and run the block again
};

/// What the encoder makes of a source, for any number of decode() calls.
struct EncoderOutput {
  Tensor memory;        // [B, Ts, C]
  Tensor padding = {};  // [B, Ts] bool, true where the source is padding; undefined: nowhere
};

struct Seq2SeqLossOptions {
  double label_smoothing = 0;  // the paper: 0.1 (section 5.4)
};

/// An encoder and a decoder with embeddings, positions and a head; any placement. Texts are i64 ids [B, T],
/// padded at the end with options().pad.
/// `nn::Seq2SeqTransformer model({.vocab = 8000, .block = {.d_model = 256, .heads = 4, .dropout = 0.1}});`
/// Starts as PyTorch's nn.Transformer, matrices Xavier uniform; embeddings N(0, 1 / C).
struct Seq2SeqTransformer : Module {
  explicit Seq2SeqTransformer(const Seq2SeqOptions& options);

  /// The next token's logits at every position of what the decoder reads: source [B, Ts], target_in [B, Tt],
  /// which is shifted(target) -> [B, Tt, V].
  Tensor operator()(const Tensor& source, const Tensor& target_in) const;
  /// Mean cross-entropy of the target's tokens [B, Tt], each row ended by options().end (a text that is cut
  /// short has none) and then padded, which does not count and costs next to nothing; 0 where all is padding.
  /// Throws at a row with padding before its end, or that begins with options().start, which stands in front
  /// already. `model.loss(source, target, {.label_smoothing = 0.1})`
  Tensor loss(const Tensor& source, const Tensor& target, const Seq2SeqLossOptions& options = {}) const;
  /// What the decoder reads to write target [B, Tt]: the start token, then all of it but the last column.
  Tensor shifted(const Tensor& target) const;

  /// Reads the source [B, Ts], once for all that is to be written.
  EncoderOutput encode(const Tensor& source) const;
  /// Logits as of operator(): target_in [B, Tt] -> [B, Tt, V].
  Tensor decode(const Tensor& target_in, const EncoderOutput& source) const;
  /// The same for target_in that follows the tokens in `cache`, which then holds them too. Without a tape, in
  /// eval mode if there is dropout; `source` is the same at every call, whatever the cache selects.
  Tensor decode(const Tensor& target_in, const EncoderOutput& source, KeyValueCache& cache) const;
  /// Only those after the last token, [B, V].
  Tensor next_logits(const Tensor& target_in, const EncoderOutput& source, KeyValueCache& cache) const;
  /// The decoder's final states, which the head multiplies, for a head of your own: source [B, Ts], target_in
  /// [B, Tt] -> [B, Tt, C]. After the final norm if there is one, output_dropout and output_scale; dropout
  /// acts in training. The encoder's are encode(source).memory. Throws as operator() does.
  /// `Tensor scores = my_head(model.hidden(source, model.shifted(target)));`
  Tensor hidden(const Tensor& source, const Tensor& target_in) const;
  /// The same for a source that has been read, as decode() takes it.
  Tensor hidden(const Tensor& target_in, const EncoderOutput& source) const;
  /// The same with a cache, as decode() takes it.
  Tensor hidden(const Tensor& target_in, const EncoderOutput& source, KeyValueCache& cache) const;
  /// The head: hidden [..., C] -> [..., V]. `model.logits(model.hidden(source, target_in))` has the bits of
  /// `model(source, target_in)`.
  Tensor logits(const Tensor& hidden) const;
  /// An empty cache for `batch` targets of at most `capacity` tokens.
  KeyValueCache new_cache(std::int64_t batch, std::int64_t capacity) const;

  /// A target for each source [B, Ts], of at most `count` tokens: [B, T], each row up to its end token, then
  /// padding, which is never written before; [T] for a source [Ts]. Rows that have ended cost nothing. Works
  /// in eval mode, without a tape.
  /// `Tensor ids = model.generate(source, 60, {.greedy = true});` The options' slide means nothing here.
  Tensor generate(const Tensor& source, std::int64_t count, const GenerateOptions& options = {}) const;
  /// The same of a tokenizer's ids, the end token among them: `model.generate(tokenizer.encode("Ja."), 60)`
  std::vector<std::int64_t> generate(const std::vector<std::int64_t>& source, std::int64_t count,
                                     const GenerateOptions& options = {}) const;
  /// The likeliest targets of each source [B, Ts] that beam search finds, best first; the end token need not
  /// be given; padding is never written. `model.beam_search(source, {.beams = 4, .count = 60})[0][0].tokens`
  ListOf<ListOf<Hypothesis>> beam_search(const Tensor& source, const BeamOptions& options) const;

  /// A model from a folder as Hugging Face has it, model_type "marian", in eval mode.
  /// `auto model = nn::Seq2SeqTransformer::load_pretrained("opus-mt-de-en");`
  static Seq2SeqTransformer load_pretrained(const std::string& folder, const PretrainedOptions& options = {});
  /// Writes such a folder; with options that Marian does not have, of model_type "gradus-marian". A T5 is
  /// written as one, as whatever it is at hand.
  void save_pretrained(const std::string& folder, const SavePretrainedOptions& options = {}) const;

  /// As given, with what was left to the model filled in.
  const Seq2SeqOptions& options() const& { return options_; }
  Seq2SeqOptions options() const&& { return options_; }

  Embedding embedding;  // of the target's tokens, and the source's unless it has its own
  std::optional<Embedding> source_embedding;                           // these as the options have it
  std::optional<LearnedPositions> source_positions, target_positions;  // [context, C]
  std::optional<SinusoidalPositions> position_waves;                   // fixed sines and cosines
  std::optional<RelativeBias> encoder_bias, decoder_bias;              // T5's
  Dropout dropout;                                                     // on the embedded tokens
  TransformerEncoder encoder;                                          // reads the source
  TransformerDecoder decoder;  // reads what is written, and the encoder's output
  std::optional<Linear> head;  // only when not tied
  Parameter head_bias;         // [V]; undefined without

 protected:
  /// A model of another kind, saved as `model_type`, with initial values of its own.
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
