// The names that the published models have in their files.

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <set>

#include "gradus/core/check.h"
#include "gradus/core/io/safetensors.h"
#include "lab/studies/blocks/models.h"

namespace gradus::lab::blocks {

namespace {

/// A temporary folder that the destructor removes.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "gradus-lab-XXXXXX").string();
    check(mkdtemp(name.data()) != nullptr, "cannot make a folder in {}",
          std::filesystem::temp_directory_path().string());
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::set<std::string> with_biases(const std::vector<std::string>& layers) {
  std::set<std::string> names;
  for (const std::string& layer : layers) {
    names.insert(layer + ".weight");
    names.insert(layer + ".bias");
  }
  return names;
}

template <class Model>
int names_off(const Model& model, const std::set<std::string>& published) {
  const Scratch folder;
  model.save_pretrained(folder.path());
  std::set<std::string> found;
  for (const auto& [name, values] : load_safetensors(folder.path() + "/model.safetensors"))
    found.insert(name);
  int off = 0;
  for (const std::string& name : found) off += !published.contains(name);
  for (const std::string& name : published) off += !found.contains(name);
  return off;
}

}  // namespace

int gpt2_names_off(const nn::GPT& gpt) {
  std::vector<std::string> layers = {"transformer.ln_f"};
  for (int i = 0; i < 2; ++i)
    for (const char* part : {"ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"})
      layers.push_back(fmt::format("transformer.h.{}.{}", i, part));
  std::set<std::string> names = with_biases(layers);
  names.insert({"transformer.wte.weight", "transformer.wpe.weight"});
  return names_off(gpt, names);
}

int bert_names_off(const nn::Bert& bert) {
  std::vector<std::string> layers = {"bert.embeddings.LayerNorm", "bert.pooler.dense",
                                     "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                                     "cls.seq_relationship"};
  for (int i = 0; i < 2; ++i)
    for (const char* part :
         {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
          "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"})
      layers.push_back(fmt::format("bert.encoder.layer.{}.{}", i, part));
  std::set<std::string> names = with_biases(layers);
  for (const char* table : {"word", "position", "token_type"})
    names.insert(fmt::format("bert.embeddings.{}_embeddings.weight", table));
  names.insert("cls.predictions.bias");
  return names_off(bert, names);
}

}  // namespace gradus::lab::blocks
