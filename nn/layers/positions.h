#pragma once
#include "gradus/nn/module/module.h"

namespace gradus::nn {

/// How a model represents the positions of tokens.
enum class Positions {
  learned,     // a trained vector for each position (GPT-2)
  sinusoidal,  // waves, added to sqrt(C) times the embedding (Vaswani et al. 2017)
  rotary,      // block.rope: queries and keys are rotated (Su et al. 2021)
  alibi,       // block.alibi: the scores contain distances (Press et al. 2022)
  relative,    // T5's trained value for each head and bucket of distances (Raffel et al. 2020)
  none         // only the causal mask
};

/// One trained vector per position: positions(T) is [T, C], to be added to x [B, T, C]; positions(T, begin)
/// starts at position `begin`. Starts as N(0, 1).
/// `Tensor h = tokens(ids) + positions(ids.size(1));`
struct LearnedPositions : Module {
  LearnedPositions(std::int64_t context, std::int64_t d_model);
  Tensor operator()(std::int64_t length, std::int64_t begin = 0) const;

  Parameter weight;  // [context, C]
};

/// The channels of the sine and the cosine of one frequency.
enum class Waves {
  interleaved,  // channels 2i and 2i+1: the paper
  halves        // channels i and C/2 + i: Marian
};
struct SinusoidalOptions {
  Waves waves = Waves::interleaved;  // the channels of sine and cosine
};

/// Fixed waves: PE(t, 2i) = sin(t / 10000^(2i/C)), PE(t, 2i+1) = cos of the same (Vaswani et al. 2017,
/// section 3.5). Used like LearnedPositions; nothing to train or save.
struct SinusoidalPositions : Module {
  SinusoidalPositions(std::int64_t context, std::int64_t d_model, const SinusoidalOptions& options = {});
  Tensor operator()(std::int64_t length, std::int64_t begin = 0) const;

  Buffer table;  // [context, C]
};

}  // namespace gradus::nn
