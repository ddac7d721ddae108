#include "gradus/nn/placements/placements.h"

#include <cctype>

#include "gradus/core/detail/format.h"

namespace gradus::nn {

std::vector<Placement> placements() {
  return {pre_ln(), post_ln(), rezero(),  admin(),      deep_norm(),   b2t(),  resi_dual(),   no_norm(),
          olmo2(),  mix_ln(),  peri_ln(), ln_scaling(), hybrid_norm(), keel(), siamese_norm()};
}

/// Small letters and digits only.
static std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

Placement placement_named(std::string_view name) {
  std::string wanted = plain(name);
  if (wanted.starts_with("sandwich")) wanted = "periln";
  std::string names;
  for (const Placement& placement : placements()) {
    const std::string known = plain(placement.name);
    if (known == wanted || known == wanted + "ln" || known == wanted + "norm") return placement;
    names += (names.empty() ? "" : ", ") + placement.name;
  }
  fail(fmt::format("placement_named: there is no placement '{}'; there are {}", name, names));
}

/// What one types for a name: "pre" for "Pre-LN", "olmo2" for "OLMo 2".
static std::string short_name(const std::string& name) {
  std::string word = plain(name);
  for (const std::string_view end : {"ln", "norm"})
    if (word.size() > end.size() + 2 && word.ends_with(end)) word.resize(word.size() - end.size());
  return word;
}

std::string list_placements() {
  constexpr int width = 12;
  std::string lines;
  for (const Placement& p : placements())
    lines += fmt::format("{:<{}}{}: {}\n{:<{}}{}{}\n", short_name(p.name), width, p.name, p.equation, "",
                         width, p.paper, p.decoder_block ? "" : "; not for decoders with memory");
  return lines;
}

}  // namespace gradus::nn
