#include "lab/studies/compare/analysis/placements.h"

#include <algorithm>

namespace gradus::lab::compare {

bool contains(const Placements& two, const nn::Placement& one) {
  return std::find(two.begin(), two.end(), one) != two.end();
}

int style_of(const Placements& two, const nn::Placement& one) { return one == two[0] ? 0 : 1; }

bool pre_and_post(const Placements& two) { return two == Placements{nn::pre_ln(), nn::post_ln()}; }

std::string difference_label(const Placements& placements) {
  return placements[1].name + " - " + placements[0].name;
}

}  // namespace gradus::lab::compare
