#pragma once
// run_program: handles a program's streams, signals, errors and exit status.

#include <functional>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// Runs `work` and returns the exit status for main(): the result of `work`, or interrupt_status() if that is
/// 0 or Interrupted was thrown; 1 after another exception, whose message goes to stderr after "name: ";
/// status_not_kept instead of 0 or interrupt_status() if a TrainingRun could not save its end. In a program
/// compiled with -g, an Error's message is followed by a backtrace (set_error_backtrace() in
/// gradus/core/error.h).
///
/// Text that does not reach stdout is an error, with status 1: a full disk is reported after the work, a
/// closed stdout before it. If the reader has gone (`| head`), interrupted() becomes true, and the status is
/// 141, as for a program killed by SIGPIPE. Text that does not reach stderr is lost without an error.
///
///   int main(int argc, char** argv) { return kit::run_program("lab", [&] { ...; return 0; }); }
int run_program(std::string_view name, const std::function<int()>& work);

/// The status of a program that did its work, but whose TrainingRun could not write its last checkpoint or
/// last losses.
inline constexpr int status_not_kept = 3;

/// Describes the exit statuses, for the end of a program's help: `line.footer(kit::exit_statuses);`
inline constexpr const char* exit_statuses =
    "Exit status: 0 done; 1 an error; 2 a wrong command line; 128 + N stopped by signal N (130: Ctrl-C);\n"
    "3 done or stopped, but the training's last checkpoint or last losses could not be written";

/// Writes text to stdout at once. Never throws: see run_program().
void print(std::string_view text);

/// The same for untrusted text, such as a model's output or a file: characters that control a terminal (C0
/// except \n, \t and \r\n; DEL; C1; changes of the direction of writing) and bytes that are not UTF-8 become
/// U+FFFD. This does not depend on whether stdout is a terminal. Pieces must end between characters: see
/// text::Utf8Stream.
void print_text(std::string_view text);

/// Like print_text(), to stderr.
void print_error(std::string_view text);

/// From now on nothing of the kit writes to stdout or stderr: of several processes that train together, all
/// but one. `if (world.rank() > 0) kit::be_silent();`
void be_silent();

}  // namespace gradus::kit
