// Folders as Hugging Face lays them out (make_pretrained.py wrote them): logits, loss, gradients and greedy
// text of each model against PyTorch's, and the same weights in the same names when it is saved again.

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include "golden/golden.h"
#include "gradus/gradus.h"
#include "support.h"

namespace gradus::test {
namespace {

std::string pretrained_folder(const std::string& name) {
  return source_file("tests/golden/pretrained/" + name).string();
}

StateDict weights_in(const std::string& folder) {
  const std::string one = folder + "/model.safetensors";
  return load_safetensors(std::filesystem::exists(one) ? one : one + ".index.json");
}

/// Of a name with or without "transformer." in front.
const Tensor& tensor_of(const StateDict& file, const std::string& name) {
  const Tensor* const found = file.find(name);
  return found ? *found : file.at("transformer." + name);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.array().raw(), b.array().raw(),
                     static_cast<std::size_t>(a.numel()) * size_of(a.dtype())) == 0;
}

/// The gradients of a model under the names its weights have in files.
StateDict gradients_as_in_files(const nn::GPT& gpt) {
  const nn::GPT twin(gpt.options());
  StateDict gradients;
  for (const auto& [name, w] : gpt.named_parameters()) gradients.set(name, w.grad());
  twin.load_state_dict(gradients);
  const ScratchFolder folder;
  twin.save_pretrained(folder.path().string());
  return weights_in(folder.path().string());
}

void check_pretrained(const std::string& name, const std::set<std::string>& not_saved_again = {}) {
  CAPTURE(name);
  const nn::GPT gpt = nn::GPT::load_pretrained(pretrained_folder(name));
  CHECK_FALSE(gpt.is_training());
  const StateDict expected = load_safetensors(pretrained_folder(name) + "/expected.safetensors");
  const Tensor ids = expected.at("ids");
  check_close(name + " logits", gpt(ids), expected.at("logits"));
  const Tensor loss = gpt.loss(ids.slice(1, 0, 8), ids.slice(1, 1));
  check_close(name + " loss", loss, expected.at("loss"));
  loss.backward();
  const StateDict gradients = gradients_as_in_files(gpt);
  std::size_t compared = 0;
  for (const auto& [key, gradient] : expected.with_prefix_removed("grad/")) {
    check_close(name + " gradient of " + key, tensor_of(gradients, key), gradient);
    ++compared;
  }
  CHECK(compared == gradients.size());
  const Tensor text = expected.at("greedy");
  CHECK((gpt.generate(text.slice(0, 0, 3), text.size(0) - 3, {.greedy = true}) == text).all());

  const ScratchFolder folder;  // saved again: the same numbers, as f32, and no others
  gpt.save_pretrained(folder.path().string(), {.max_shard_bytes = 2000});
  const StateDict before = weights_in(pretrained_folder(name)), after = weights_in(folder.path().string());
  CHECK(after.size() + not_saved_again.size() == before.size());
  for (const auto& [key, values] : before)
    if (!not_saved_again.contains(key)) CHECK(same_bits(values, tensor_of(after, key)));
}

}  // namespace

TEST_CASE("PyTorch parity: GPT-1, GPT-2, GPT-Neo from folders") {
  check_pretrained("gpt1", {"lm_head.weight", "transformer.position_ids"});
  check_pretrained("gpt2", {"h.0.attn.bias", "h.1.attn.bias"});
  std::set<std::string> masks;
  for (const char* const layer : {"0", "1", "2", "3"})
    for (const char* const mask : {"bias", "masked_bias"})
      masks.insert(std::string("transformer.h.") + layer + ".attn.attention." + mask);
  check_pretrained("gpt_neo", masks);
}

TEST_CASE("PyTorch parity: Llama in BF16 and three files, Mistral in F16, Qwen2") {
  check_pretrained("llama", {"model.layers.0.self_attn.rotary_emb.inv_freq",
                             "model.layers.1.self_attn.rotary_emb.inv_freq"});
  check_pretrained("mistral");
  check_pretrained("qwen2");
}

TEST_CASE("GPT-2 124M: 100 greedy tokens as PyTorch's (gpt2_124m.py runs this)" * doctest::skip()) {
  const char* const folder = std::getenv("GRADUS_GPT2_124M");
  REQUIRE(folder != nullptr);
  const nn::GPT gpt = nn::GPT::load_pretrained(folder);
  CHECK(gpt.num_parameters() == 124'439'808);
  const Tensor text = load_safetensors(std::string(folder) + "/expected.safetensors").at("greedy");
  CHECK((gpt.generate(text.slice(0, 0, 4), 100, {.greedy = true}) == text).all());
}

}  // namespace gradus::test
