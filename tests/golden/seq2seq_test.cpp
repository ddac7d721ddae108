// Models with an encoder and a decoder (make_seq2seq.py wrote the files): logits, loss and gradients against
// PyTorch's, and folders as Hugging Face has them, read and written again.

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>

#include "golden/golden.h"
#include "gradus/gradus.h"
#include "support.h"

namespace gradus::test {
namespace {

std::string seq2seq_folder(const std::string& name) {
  return source_file("tests/golden/pretrained/" + name).string();
}

/// Gradients under the names their weights have in files: those of a twin whose weights they are.
template <class Model>
StateDict gradients_under_file_names(const Model& model, const std::string& folder) {
  const Model twin = Model::load_pretrained(folder);
  StateDict gradients;
  for (const auto& [name, w] : model.named_parameters()) gradients.set(name, w.grad());
  twin.load_state_dict(gradients);
  const ScratchFolder scratch;
  twin.save_pretrained(scratch.path().string());
  return load_safetensors((scratch.path() / "model.safetensors").string());
}

template <class Model>
void check_seq2seq_folder(const std::string& name) {
  CAPTURE(name);
  const std::string folder = seq2seq_folder(name);
  const Model model = Model::load_pretrained(folder);
  CHECK_FALSE(model.is_training());
  const StateDict expected = load_safetensors(folder + "/expected.safetensors");
  const Tensor source = expected.at("source"), target = expected.at("target");
  check_close(name + " logits", model(source, model.shifted(target)), expected.at("logits"));
  const Tensor loss = model.loss(source, target, {.label_smoothing = 0.1});
  check_close(name + " loss", loss, expected.at("loss"));
  loss.backward();
  const StateDict gradients = gradients_under_file_names(model, folder);
  std::size_t compared = 0;
  for (const auto& [key, gradient] : expected.with_prefix_removed("grad/")) {
    // T5 does not divide its scores: OpenBLAS's products alone come to 1.5e-5.
    check_close(name + " gradient of " + key, gradients.at(key), gradient, 2);
    ++compared;
  }
  CHECK(compared == gradients.size());
  CHECK((model.generate(source, 8, {.greedy = true}) == expected.at("greedy")).all());

  const ScratchFolder scratch;  // saved again: the same tensors, bit for bit
  model.save_pretrained(scratch.path().string());
  const StateDict before = load_safetensors(folder + "/model.safetensors");
  const StateDict after = load_safetensors((scratch.path() / "model.safetensors").string());
  CHECK(after.size() == before.size());
  for (const auto& entry : before) {
    const std::string& key = entry.first;
    const Tensor& values = entry.second;
    INFO(key);
    CHECK(values.shape() == after.at(key).shape());
    CHECK(std::memcmp(values.array().raw(), after.at(key).array().raw(),
                      static_cast<std::size_t>(values.numel()) * 4) == 0);
  }
}

}  // namespace

TEST_CASE("PyTorch parity: Seq2SeqTransformer has the stacks of nn.Transformer") {
  const StateDict file = golden("seq2seq.safetensors");
  for (const nn::Placement& placement : {nn::post_ln(), nn::pre_ln()}) {
    const std::string name = placement == nn::post_ln() ? "post" : "pre";
    const nn::Seq2SeqTransformer model({.vocab = 7,
                                        .context = 8,
                                        .encoder_layers = 2,
                                        .decoder_layers = 2,
                                        .placement = placement,
                                        .block = {.d_model = 12, .heads = 3, .d_ff = 20},
                                        .final_norm = true});
    const StateDict expected = file.with_prefix_removed(name + "/");
    model.load_state_dict(expected.with_prefix_removed("param/"));
    const Tensor source = expected.at("source"), target = expected.at("target");
    check_close(name + " logits", model(source, model.shifted(target)), expected.at("logits"));
    const Tensor loss = model.loss(source, target, {.label_smoothing = 0.1});
    check_close(name + " loss", loss, expected.at("loss"));
    loss.backward();
    for (const auto& [key, w] : model.named_parameters())
      check_close(name + " gradient of " + key, w.grad(), expected.at("grad/" + key));
  }
}

TEST_CASE("PyTorch parity: T5 and T5 v1.1 from folders") {
  check_seq2seq_folder<nn::T5>("t5_v1_0");
  check_seq2seq_folder<nn::T5>("t5_v1_1");
}

TEST_CASE("PyTorch parity: Marian from a folder") { check_seq2seq_folder<nn::Seq2SeqTransformer>("marian"); }

}  // namespace gradus::test
