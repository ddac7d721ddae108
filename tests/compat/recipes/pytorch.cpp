// Exchange with PyTorch: read its weights and output, write ours under its keys.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

int main(int argc, char** argv) {  // pytorch FILE: see docs/recipes.md for the Python that writes and reads
  if (argc < 2) return std::fprintf(stderr, "usage: pytorch FILE.safetensors\n"), 2;
  const StateDict file = load_safetensors(argv[1]);

  // nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 3, 20, norm_first=True, ...), 2, nn.LayerNorm(12))
  const nn::TransformerEncoder encoder({.layers = 2, .block = {.d_model = 12, .heads = 3, .d_ff = 20}});
  encoder.load_state_dict(file.with_prefix_removed("pre_stack/param/"));
  const NoGrad guard;
  const Tensor y = encoder(file.at("pre_stack/in0")), theirs = file.at("pre_stack/out");
  std::printf("same output as PyTorch's: %s\n", allclose(y, theirs, 1e-4, 1e-5) ? "yes" : "no");

  save_safetensors("to_pytorch.safetensors", encoder.state_dict());
  for (const auto& [key, weight] : load_safetensors("to_pytorch.safetensors"))
    if (key.starts_with("layers.0."))
      std::printf("%-34s %s\n", key.c_str(), to_string(weight.shape()).c_str());
}
