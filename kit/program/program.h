#pragma once
// What a program does around its work: its streams, its signals, its errors and its exit status.

#include <functional>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// Runs `work` and returns the exit status for main(): what `work` returns, or interrupt_status() if that is 0
/// or Interrupted was thrown; 1 after another exception, whose message goes to stderr behind "name: ";
/// status_not_kept in place of 0 or interrupt_status() where a TrainingRun could not save its end. In a program compiled with -g the lines
/// that led to an Error follow its message (set_error_backtrace() in gradus/core/error.h).
///
/// Text that does not reach stdout is an error, with status 1: a full disk is told when the work is done, a
/// closed stdout before it begins. Where nobody reads any more (`| head`) interrupted() becomes true, and the
/// status is 141, as of a program that dies of SIGPIPE. Text that does not reach stderr is lost, nothing
/// else.
///
///   int main(int argc, char** argv) { return kit::run_program("lab", [&] { ...; return 0; }); }
int run_program(std::string_view name, const std::function<int()>& work);

/// The status of a program that did its work, but whose TrainingRun could not write its last checkpoint or
/// the last lines of its losses.
inline constexpr int status_not_kept = 3;

/// These statuses in words, for the end of a program's help: `line.footer(kit::exit_statuses);`
inline constexpr const char* exit_statuses =
    "Exit status: 0 done; 1 an error; 2 a wrong command line; 128 + N stopped by signal N (130: Ctrl-C);\n"
    "3 done or stopped, but the training's last checkpoint or last losses could not be written";

/// Writes text to stdout at once. Never throws: see run_program().
void print(std::string_view text);

/// The same for text that a model wrote or a file holds, which may be anything: characters that control a
/// terminal (C0 but for \n, \t and \r\n; DEL; C1; changes of the direction of writing) and bytes that are not
/// UTF-8 become U+FFFD. Also where stdout is a file or a pipe, which may end at a terminal: a program prints
/// the same everywhere. Pieces must end between characters: see text::Utf8Stream.
void print_text(std::string_view text);

/// As print_text(), to stderr.
void print_error(std::string_view text);

}  // namespace gradus::kit
