#pragma once
// What a program does around its work: its streams, its signals, its errors and its exit status.

#include <functional>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// Runs `work` and returns the exit status for main(): what `work` returns; 1 after an exception, whose
/// message goes to stderr behind "name: "; interrupt_status() after Interrupted. In a program compiled with
/// -g the lines that led to an Error follow its message (set_error_backtrace() in gradus/core/error.h).
///
/// Text that does not reach stdout is an error, with status 1: a full disk is told when the work is done, a
/// closed stdout before it begins. Where nobody reads any more (`| head`) interrupted() becomes true, and the
/// status is 141, as of a program that dies of SIGPIPE. Text that does not reach stderr is lost, nothing
/// else.
///
///   int main(int argc, char** argv) { return kit::run_program("lab", [&] { ...; return 0; }); }
int run_program(std::string_view name, const std::function<int()>& work);

/// Writes text to stdout at once. Never throws: see run_program().
void print(std::string_view text);

/// The same for stderr.
void print_error(std::string_view text);

}  // namespace gradus::kit
