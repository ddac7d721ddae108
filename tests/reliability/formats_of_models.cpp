// The folder of each family of models, as formats.h has them: config.json, weights in one file or, with an
// index, in several, and beside them what the model computed when it was written.

#include <doctest/doctest.h>

#include <string>

#include "gradus/core/io/safetensors.h"
#include "gradus/core/random/random.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "reliability/formats.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

const char* const kComputed = "computed.safetensors";

Tensor inputs_of_models() { return tensor({{1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}}); }

Tensor output_of(const nn::GPT& gpt) { return gpt(inputs_of_models()); }
Tensor output_of(const nn::Bert& bert) { return bert(inputs_of_models()); }
Tensor output_of(const nn::Seq2SeqTransformer& model) {
  return model(inputs_of_models(), model.shifted(inputs_of_models()));
}

template <class Model>
void write_model(const Model& model, const fs::path& folder, std::uint64_t max_shard_bytes = 1'000'000) {
  model.save_pretrained(folder.string(), {.max_shard_bytes = max_shard_bytes});
  save_safetensors(folder / kComputed, {{"output", output_of(model).detach()}});
}

template <class Model>
void read_model(const fs::path& folder) {
  const Tensor expected = load_safetensors(folder / kComputed).at("output");
  const Tensor output = output_of(Model::load_pretrained(folder.string()));
  REQUIRE(output.shape() == expected.shape());
  CHECK(allclose(output, expected, 1e-4, 1e-5));
}

/// The model of tests/golden in that folder, written again.
template <class Model>
Format family(const std::string& name, const std::string& golden, std::uint64_t max_shard_bytes = 1'000'000) {
  return {"models/" + name,
          [=](const fs::path& folder) {
            write_model(Model::load_pretrained(source_file("tests/golden/" + golden).string()), folder,
                        max_shard_bytes);
          },
          read_model<Model>};
}

/// One that only gradus has a name for.
void write_own_family(const fs::path& folder) {
  nn::GPT gpt({.vocab = 7,
               .context = 9,
               .layers = 2,
               .placement = nn::deep_norm(),
               .block = {.d_model = 8, .heads = 2, .gated = true},
               .positions = nn::Positions::rotary});
  Generator random(3);
  for (const Tensor& w : gpt.parameters()) nn::init::normal_(w, 0.1, 0.3, random);
  gpt.eval();
  write_model(gpt, folder);
}

}  // namespace

std::vector<Format> formats_of_models() {
  std::vector<Format> all = {{"models/gradus", write_own_family, read_model<nn::GPT>}};
  for (const char* const name : {"gpt1", "gpt2", "mistral", "qwen2"})
    all.push_back(family<nn::GPT>(name, "pretrained/" + std::string(name)));
  for (const char* const name : {"gpt_neo", "llama"})  // in several files
    all.push_back(family<nn::GPT>(name, "pretrained/" + std::string(name), 4000));
  all.push_back(family<nn::Seq2SeqTransformer>("marian", "pretrained/marian"));
  for (const char* const name : {"t5_v1_0", "t5_v1_1"})
    all.push_back(family<nn::T5>(name, "pretrained/" + std::string(name)));
  all.push_back(family<nn::Bert>("bert", "bert"));
  return all;
}

}  // namespace gradus::test
