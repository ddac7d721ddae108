#pragma once
// Small models in stages, and how a run of them fails.

#include <functional>
#include <string>
#include <vector>

#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"

namespace gradus::test {

using distributed::PipelineModel;

inline std::string pipeline_failure(int ranks,
                                    const std::function<void(const distributed::Communicator&)>& main) {
  try {
    distributed::run_threads(ranks, main);
  } catch (const Error& error) {
    return error.what();
  }
  return "no failure";
}

inline nn::GPTOptions small_gpt(bool tied) {
  return {.vocab = 23, .context = 6, .layers = 3, .block = {.d_model = 8, .heads = 2}, .tied = tied};
}

inline Tensor squares(const Tensor& y, const Tensor& targets) { return mse_loss(y, targets); }

/// A layer of each pair of sizes.
inline PipelineModel linears(const std::vector<std::pair<int, int>>& sizes) {
  PipelineModel model{.layers = {}, .loss = squares};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    model.layers.push_back(
        {"layers." + std::to_string(i), [size = sizes[i]] { return nn::Linear(size.first, size.second); }});
  return model;
}

}  // namespace gradus::test
