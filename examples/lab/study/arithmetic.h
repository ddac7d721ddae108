#pragma once
// Whether another machine, or another version, continues a study with the same bits.

#include <string>

namespace gradus::lab {

/// The fingerprint of the weights and losses of two short trainings, one per placement. Equal where the
/// arithmetic of kernels, ops, modules and optimizer is; a version that changes none of it has the same.
std::string arithmetic();

}  // namespace gradus::lab
