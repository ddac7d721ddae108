// Loading a Seq2SeqTransformer or a T5 from a folder and saving it.

#include "gradus/nn/pretrained/detail/folder.h"
#include "gradus/nn/pretrained/detail/seq2seq_families.h"

namespace gradus::nn {

Seq2SeqTransformer Seq2SeqTransformer::load_pretrained(const std::string& folder,
                                                       const PretrainedOptions& given) {
  pretrained::Reader reader("Seq2SeqTransformer::load_pretrained", folder, given);
  const Seq2SeqOptions options = pretrained::marian_options(reader.config, given);
  reader.expect_layers("encoder_layers", options.encoder_layers, "model.", "encoder.layers.");
  reader.expect_layers("decoder_layers", options.decoder_layers, "model.", "decoder.layers.");
  return reader.load(pretrained::marian_names(options), [&] { return Seq2SeqTransformer(options); });
}

void Seq2SeqTransformer::save_pretrained(const std::string& folder,
                                         const SavePretrainedOptions& given) const {
  const std::string caller = kind() + "::save_pretrained";
  if (model_type_ == "marian")
    pretrained::save(caller.c_str(), folder, *this, pretrained::marian_names(options_),
                     pretrained::marian_config(caller.c_str(), folder, options_), given);
  else
    pretrained::save(caller.c_str(), folder, *this, pretrained::t5_names(options_),
                     pretrained::t5_config(caller.c_str(), options_, model_type_), given);
}

T5 T5::load_pretrained(const std::string& folder, const PretrainedOptions& given) {
  pretrained::Reader reader("T5::load_pretrained", folder, given);
  const T5Options options = pretrained::t5_options(reader.config, given);
  reader.expect_layers("num_layers", options.encoder_layers, "", "encoder.block.");
  reader.expect_layers("num_decoder_layers", options.decoder_layers, "", "decoder.block.");
  return reader.load(pretrained::t5_names(T5::as_seq2seq(options)), [&] { return T5(options); });
}

}  // namespace gradus::nn
