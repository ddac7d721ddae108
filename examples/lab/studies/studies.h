#pragma once
// All studies, in the order of the course. Each is a file beside this one.

#include <string>
#include <vector>

#include "lab/study/study.h"

namespace gradus::lab {

const std::vector<Study>& studies();
/// Throws on any other name, with the names there are.
const Study& study_named(const std::string& name);

Study layer_norm_study();
Study blocks_study();
Study attention_study();
Study pruning_study();
Study fine_tuning_study();

}  // namespace gradus::lab
