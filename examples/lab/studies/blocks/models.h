#pragma once
// The blocks of published models, by construction: the library's model is compared with blocks written out.

#include <cstdint>

#include "gradus/nn/nn.h"
#include "lab/study/study.h"

namespace gradus::lab::blocks {

/// Norms written out: of x [..., C], with a gain and, where there is a mean to subtract, a bias.
Tensor layer_norm_by_hand(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps);
Tensor rms_norm_by_hand(const Tensor& x, const Tensor& gain, double eps);

enum class WrittenOut { pre, post };
/// The output of a stack of these weights with every addition and norm written out, in the order of Pre-LN or
/// Post-LN; norms without a bias are RMSNorm.
Tensor written_out(const nn::TransformerEncoder& stack, const Tensor& x, WrittenOut order,
                   const nn::AttentionMasks& masks = {});

/// Draws all parameters: matrices N(0, 1/fan_in), gains N(1, 0.3^2), biases N(0, 0.3^2), so each has an
/// effect.
void draw_all(const nn::Module& model, std::uint64_t seed);

/// One model's numbers: "gpt1", "gpt2", "gpt3", "t5", "bert" and "shortcut", a wrong block that equals
/// another block.
Measured measure_model(const std::string& name, std::uint64_t seed);
const std::vector<std::string>& model_names();

/// The number of tensors by which the file that save_pretrained() writes differs from the published list, for
/// a model of 2 blocks.
int gpt2_names_off(const nn::GPT& gpt);
int bert_names_off(const nn::Bert& bert);

}  // namespace gradus::lab::blocks
