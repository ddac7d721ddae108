#include "gradus/nn/norm/norms.h"

#include <algorithm>
#include <cctype>

#include "gradus/core/detail/format.h"
#include "gradus/nn/layers/shape.h"
#include "gradus/nn/norm/batch_norm.h"
#include "gradus/nn/norm/dyt.h"
#include "gradus/nn/norm/group_norm.h"

namespace gradus::nn {

std::vector<NamedNorm> norms(std::int64_t groups) {
  return {{"layer", "LayerNorm", "(x - mean) / sqrt(var + eps) * g + b", "Ba et al. 2016, arXiv 1607.06450",
           make_norm<LayerNorm>},
          {"batch", "BatchNorm", "LayerNorm's, each channel over batch and positions",
           "Ioffe & Szegedy 2015, arXiv 1502.03167", make_norm<BatchNorm>},
          {"group", "GroupNorm", fmt::format("LayerNorm's, over each of {} groups of channels", groups),
           "Wu & He 2018, arXiv 1803.08494", make_group_norm(groups)},
          {"rms", "RMSNorm", "x / sqrt(mean(x^2) + eps) * g", "Zhang & Sennrich 2019, arXiv 1910.07467",
           make_norm<RMSNorm>},
          {"dyt", "DyT", "g tanh(a x) + b", "Zhu et al. 2025, arXiv 2503.10622", make_norm<DyT>},
          {"none", "Identity", "x", "no norm at all", make_norm<Identity>}};
}

NamedNorm norm_named(std::string_view name, std::int64_t groups) {
  std::string wanted;
  for (const char c : name) wanted += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (wanted.size() > 4 && wanted.ends_with("norm")) wanted.resize(wanted.size() - 4);
  std::string names;
  for (NamedNorm& norm : norms(groups)) {
    if (norm.name == wanted) return std::move(norm);
    names += (names.empty() ? "" : ", ") + norm.name;
  }
  fail(fmt::format("norm_named: there is no norm '{}'; there are {}", name, names));
}

std::string list_norms() {
  std::string lines;
  for (const NamedNorm& n : norms())
    lines += fmt::format("{:<7}{}\n{:<7}{}\n", n.name, n.equation, "", n.paper);
  return lines;
}

}  // namespace gradus::nn
