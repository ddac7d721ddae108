#pragma once
// What models of the literature are made of, by construction: the library's model against blocks written out.

#include <cstdint>

#include "gradus/nn/nn.h"
#include "lab/study/study.h"

namespace gradus::lab::blocks {

/// Norms written out: of x [..., C], with a gain and, where there is a mean to subtract, a bias.
Tensor layer_norm_by_hand(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps);
Tensor rms_norm_by_hand(const Tensor& x, const Tensor& gain, double eps);

enum class WrittenOut { pre, post };
/// What a stack of these weights gives with every addition and norm written out, in the order of Pre-LN or
/// Post-LN; norms are RMSNorm where they have no bias.
Tensor written_out(const nn::TransformerEncoder& stack, const Tensor& x, WrittenOut order,
                   const nn::AttentionMasks& masks = {});

/// All parameters anew: matrices N(0, 1/fan_in), gains N(1, 0.3^2), biases N(0, 0.3^2), so that each counts.
void draw_all(const nn::Module& model, std::uint64_t seed);

/// One model's numbers: "gpt1", "gpt2", "gpt3", "t5", "bert" and "shortcut", the wrong block that is another.
Measured measure_model(const std::string& name, std::uint64_t seed);
const std::vector<std::string>& model_names();

/// By how many tensors the file of a folder that save_pretrained() writes differs from the published list;
/// of a model of 2 blocks.
int gpt2_names_off(const nn::GPT& gpt);
int bert_names_off(const nn::Bert& bert);

}  // namespace gradus::lab::blocks
