#pragma once
// The requests of the live figures: examples/browser/answer.h lists them.

#include <optional>
#include <string>

#include "browser/request.h"

namespace gradus::browser {

/// The answer, or nothing if `what` is not a figure's request. Throws on an invalid request.
std::optional<Json> answer_figure(const std::string& what, const Json& request);

/// Their names, for errors: "layer_norm, tapes, ...".
std::string figure_requests();

}  // namespace gradus::browser
