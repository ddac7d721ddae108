#pragma once
// Initial weights by name, for the studies that compare them. All matrices are drawn in the same order from
// the same normals: with one seed, two schemes differ by factors, matrix by matrix.

#include <span>
#include <string>

#include "gradus/core/random/random.h"
#include "gradus/nn/module/module.h"

namespace gradus::lab {

struct WeightScheme {
  const char* name;   // in names of runs
  const char* title;  // on pages
};

/// "xiong": N(0, 1/d), queries and keys 0, for d_ff = d (Xiong et al. 2020).
/// "fan_in": N(0, 1/fan_in). "fan_in_scaled": those that write into the stream divided by sqrt(2L).
/// "xavier": N(0, 2/(fan_in + fan_out)), queries, keys and values each (Glorot & Bengio 2010).
/// "small": N(0, 0.02^2). "gpt2": those that write into the stream divided by sqrt(2L).
/// "tfixup": Xavier, with values, output projections and the FFN times 0.67 L^(-1/4), as in T-Fixup's encoder
/// (Huang et al. 2020), which removes the norms: here they are kept.
std::span<const WeightScheme> weight_schemes();

/// Throws if there is none of that name.
const WeightScheme& weight_scheme(const std::string& name);

/// Sets the matrices of blocks as the scheme says, embeddings to N(0, 1/d) in all of them, biases to 0; gains
/// and other numbers stay. `layers` is L.
void set_weights(const nn::Module& model, const std::string& scheme, std::int64_t layers,
                 Generator& generator);

}  // namespace gradus::lab
