// A translator's folder: the files of Seq2SeqTransformer and of the tokenizer.

#include "gradus/core/check.h"
#include "translate/translator.h"

namespace gradus::translate {

const std::vector<std::string>& saved_files() {
  static const std::vector<std::string> names{"config.json", "model.safetensors", "tokenizer.json",
                                              "vocab.json",  "merges.txt",        "special_tokens_map.json"};
  return names;
}

void save(const Translator& translator, const std::filesystem::path& folder) {
  translator.tokenizer->save(folder);
  translator.model.save_pretrained(folder.string());
}

Translator load(const std::filesystem::path& folder) {
  Translator loaded{nn::Seq2SeqTransformer::load_pretrained(folder.string()), text::load_tokenizer(folder)};
  const nn::Seq2SeqOptions& o = loaded.model.options();
  const text::SpecialIds& special = loaded.tokenizer->special();
  if (loaded.tokenizer->vocab_size() != o.vocab || special.pad != o.pad || special.bos != o.start ||
      special.eos != o.end)
    fail_input_with("{}: its tokenizer does not belong to its model: expects a folder that translate wrote",
                    folder.string());
  return loaded;
}

}  // namespace gradus::translate
