// gradus' own config.json entries for Seq2SeqTransformer's options: GPT's entries, and these.

#include "gradus/nn/pretrained/detail/gpt_families.h"
#include "gradus/nn/pretrained/detail/seq2seq_families.h"

namespace gradus::nn::pretrained {

namespace {

/// The options that both types of models have.
GPTOptions shared_with_gpt(const Seq2SeqOptions& o) {
  GPTOptions gpt{.vocab = o.vocab,
                 .context = o.context,
                 .layers = o.encoder_layers,
                 .placement = o.placement,
                 .block = o.block,
                 .positions = o.positions,
                 .final_norm = o.final_norm,
                 .tied = o.tied};
  gpt.block.activation = o.block.activation.value_or(Activation::relu);
  return gpt;
}

}  // namespace

Json gradus_entries(const std::string& caller, const Seq2SeqOptions& o) {
  Json entries = gradus_entries(caller, shared_with_gpt(o));
  entries.erase("layers");
  const Json more = {{"encoder_layers", o.encoder_layers},
                     {"decoder_layers", o.decoder_layers},
                     {"source_vocab", o.source_vocab},
                     {"waves", o.waves == Waves::halves ? "halves" : "interleaved"},
                     {"buckets", o.buckets},
                     {"max_distance", o.max_distance},
                     {"shared_embeddings", o.shared_embeddings},
                     {"head_bias", o.head_bias},
                     {"scale_embedding", o.scale_embedding},
                     {"output_scale", number_or_null(o.output_scale)},
                     {"output_dropout", o.output_dropout},
                     {"pad", o.pad},
                     {"start", o.start},
                     {"end", o.end}};
  entries.update(more);
  return entries;
}

void read_gradus_entries(const Config& config, Seq2SeqOptions& o) {
  GPTOptions gpt = shared_with_gpt(o);
  read_gradus_entries(config, gpt);
  o.vocab = gpt.vocab;
  o.context = gpt.context;
  o.block = gpt.block;
  o.positions = gpt.positions;
  o.final_norm = gpt.final_norm;
  o.tied = gpt.tied;
  o.encoder_layers = config.size("encoder_layers", o.encoder_layers);
  o.decoder_layers = config.size("decoder_layers", o.decoder_layers);
  o.source_vocab = config.whole("source_vocab", 0, o.source_vocab);
  o.waves = config.choice("waves", {{"interleaved", Waves::interleaved}, {"halves", Waves::halves}},
                          std::optional(o.waves));
  o.buckets = config.size("buckets", o.buckets);
  o.max_distance = config.size("max_distance", o.max_distance);
  o.shared_embeddings = config.flag("shared_embeddings", o.shared_embeddings);
  o.head_bias = config.flag("head_bias", o.head_bias);
  o.scale_embedding = config.flag("scale_embedding", o.scale_embedding);
  o.output_scale = config.number("output_scale", o.output_scale);
  o.output_dropout = config.flag("output_dropout", o.output_dropout);
  o.pad = config.whole("pad", 0, o.pad);
  o.start = config.whole("start", 0, o.start);
  o.end = config.whole("end", 0, o.end);
}

}  // namespace gradus::nn::pretrained
