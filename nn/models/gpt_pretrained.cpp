// Loading a GPT from a folder and saving it.

#include "gradus/nn/models/gpt.h"
#include "gradus/nn/pretrained/detail/folder.h"
#include "gradus/nn/pretrained/detail/gpt_families.h"

namespace gradus::nn {

GPT GPT::load_pretrained(const std::string& folder, const PretrainedOptions& given) {
  pretrained::Reader reader("GPT::load_pretrained", folder, given);
  const auto [family, options] = pretrained::gpt_options(reader.config, given);
  // Checked first, because the number of layers determines the names.
  reader.expect_layers(family->layers_key, options.layers, family->prefix, family->layers);
  const auto names = reader.config.explain([&, &f = family, &o = options] { return f->names(o); });
  return reader.load(names, [&, &o = options] { return GPT(o); });
}

void GPT::save_pretrained(const std::string& folder, const SavePretrainedOptions& given) const {
  constexpr const char* caller = "GPT::save_pretrained";
  const pretrained::GptConfig config = pretrained::gpt_config(caller, folder, options_);
  pretrained::save(caller, folder, *this, config.family->names(options_), config.text, given);
}

}  // namespace gradus::nn
