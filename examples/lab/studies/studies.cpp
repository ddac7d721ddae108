#include "lab/studies/studies.h"

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"

namespace gradus::lab {

const std::vector<Study>& studies() {
  static const std::vector<Study> all = {
      compare_study(),       layer_norm_study(), start_study(),  jacobians_study(),   initialisations_study(),
      update_size_study(),   attention_study(),  blocks_study(), rates_study(),       optimizers_study(),
      depth_48_study(),      placements_study(), norms_study(),  final_norm_study(),  pruning_study(),
      fine_tuning_study(),   long_study(),       text_study(),   translation_study(), best_study(),
      text_variants_study(), size_study(),       papers_study(), statements_study(),  precision_study(),
  };
  return all;
}

const Study& study_named(const std::string& name) {
  std::string names;
  for (const Study& study : studies()) {
    if (study.name == name) return study;
    names += (names.empty() ? "" : ", ") + study.name;
  }
  fail_input_with("there is no study {}; there are {}", io::quote(name), names);
}

}  // namespace gradus::lab
