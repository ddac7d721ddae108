// A translator in a folder: what Seq2SeqTransformer and the tokenizer write.

#include <fmt/format.h>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "translate/translator.h"

namespace gradus::translate {

void expect_free_folder(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  if (fs::exists(folder) && !fs::is_directory(folder))
    throw Error(fmt::format("--save: {}: is no folder", folder.string()));
  if (fs::exists(folder) && !fs::is_empty(folder) && !fs::exists(folder / "config.json"))
    throw Error(
        fmt::format("--save: {}: holds other things than a model: name another folder", folder.string()));
}

void try_folder(const Translator& translator, const std::filesystem::path& folder) {
  kit::make_folder(folder);
  kit::try_output("--save", folder / "model.safetensors",
                  static_cast<std::uint64_t>(translator.model.num_parameters()) * sizeof(float));
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
    throw Error(
        fmt::format("{}: its tokenizer is not that of its model: expects a folder that translate wrote",
                    folder.string()));
  return loaded;
}

}  // namespace gradus::translate
