#pragma once
// All studies, in the order of the course. Each is a file or a folder in this folder.

#include <string>
#include <vector>

#include "lab/study/study.h"

namespace gradus::lab {

const std::vector<Study>& studies();
/// Throws for any other name, listing the known ones.
const Study& study_named(const std::string& name);

Study compare_study();
Study layer_norm_study();
Study start_study();
Study jacobians_study();
Study initialisations_study();
Study update_size_study();
Study attention_study();
Study blocks_study();
Study rates_study();
Study optimizers_study();
Study depth_48_study();
Study placements_study();
Study norms_study();
Study final_norm_study();
Study pruning_study();
Study fine_tuning_study();
Study long_study();
Study text_study();
Study translation_study();
Study best_study();
Study text_variants_study();
Study size_study();
Study papers_study();
Study statements_study();
Study precision_study();

}  // namespace gradus::lab
