#pragma once
// Shared by programs that train language models: parameter groups, a loss over a text, and checks of
// --placement and --norm.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gradus/nn/models/gpt.h"
#include "gradus/optim/optimizer.h"

namespace gradus::kit {

/// A model's parameters in two groups: matrices and embeddings with the optimizer's weight decay, norms'
/// weights and biases without.
/// `optim::AdamW opt(kit::decay_matrices(model), {.lr = 1e-3, .weight_decay = 0.1});`
std::vector<optim::ParameterGroup> decay_matrices(const nn::Module& model);

/// The mean loss of the tokens, in nats, over adjacent windows: all tokens except a rest shorter than a
/// window. Works in eval mode, without a tape. Throws if there are too few tokens for one window of `context`
/// and its targets.
/// `const double loss = kit::loss_over(model, text.validation, 128);`
double loss_over(const nn::GPT& model, std::span<const std::int32_t> tokens, std::int64_t context);

/// Whether a name is in --placement list, or in --norm list: `if (!kit::is_norm(o.norm)) ...`
bool is_placement(const std::string& name);
bool is_norm(const std::string& name);

/// A message for invalid values of --placement and --norm; "" if both are valid.
/// `if (const std::string why = kit::wrong_block_names(o.placement, o.norm); !why.empty()) ...`
std::string wrong_block_names(const std::string& placement, const std::string& norm);

}  // namespace gradus::kit
