#pragma once
// What run_program() does at the end, for whoever ends otherwise.

#include <string_view>

namespace gradus::kit {

/// As if this signal had come while signals are caught, but in silence.
void interrupt(int signal_number);

/// A training's end could not be saved: the exit status will be status_not_kept.
void training_not_kept();

/// The exit status of a program whose work ended with `status`: another one where its text did not reach
/// stdout, which is said on stderr.
int status_of_output(std::string_view name, int status);

}  // namespace gradus::kit
