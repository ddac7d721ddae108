#pragma once
// Parts of the end of run_program(), for other files of kit.

#include <string_view>

namespace gradus::kit {

/// Whether be_silent() was called. Safe in a signal handler.
bool is_silent();

/// Reports that a training's end could not be saved: the exit status will be status_not_kept.
void training_not_kept();

/// The exit status of a program whose work ended with `status`: a different one, with a message on stderr, if
/// its text did not reach stdout.
int status_of_output(std::string_view name, int status);

}  // namespace gradus::kit
