// config.json of every family of models.

#include <filesystem>
#include <string>
#include <vector>

#include "gradus/nn/nn.h"
#include "reliability/reader_lists.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

/// Copies a model of tests/golden; its config.json is the seed.
Reader config_of(const std::string& name, const std::string& source, void (*load)(const std::string&)) {
  const auto prepare = [source](const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(source_file(source)))
      if (entry.path().filename().string().starts_with("model"))
        fs::copy_file(entry.path(), folder / entry.path().filename(), fs::copy_options::overwrite_existing);
    return std::vector<std::string>{bytes_of(source_file(source) / "config.json")};
  };
  // The weights are read before the model is made, and their shapes bound it.
  return {"config." + name, "config.json", prepare, [load](const fs::path& folder) { load(folder.string()); },
          4 << 20,          200,           true};
}

}  // namespace

std::vector<Reader> readers_of_models() {
  const auto gpt = [](const std::string& folder) { nn::GPT::load_pretrained(folder); };
  std::vector<Reader> all;
  for (const char* const family : {"gpt1", "gpt2", "gpt_neo", "llama", "mistral", "qwen2"})
    all.push_back(config_of(family, "tests/golden/pretrained/" + std::string(family), gpt));
  all.push_back(config_of("marian", "tests/golden/pretrained/marian", [](const std::string& folder) {
    nn::Seq2SeqTransformer::load_pretrained(folder);
  }));
  for (const char* const family : {"t5_v1_0", "t5_v1_1"})
    all.push_back(config_of(family, "tests/golden/pretrained/" + std::string(family),
                            [](const std::string& folder) { nn::T5::load_pretrained(folder); }));
  all.push_back(config_of("bert", "tests/golden/bert",
                          [](const std::string& folder) { nn::Bert::load_pretrained(folder); }));
  return all;
}

}  // namespace gradus::test
