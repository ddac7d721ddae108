#pragma once
// Ctrl-C as a question a program asks between two steps, so that what is done can be kept.

#include <exception>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// SIGINT, SIGTERM and SIGHUP (a terminal that closes) end the program at once, also where it was started
/// with them ignored, as shells do in the background; all but SIGHUP, which nohup ignores on purpose.
void end_on_interrupts();

/// From now on the first of these signals only sets a flag (and says so on stderr); a second one ends the
/// program at once.
///
///   catch_interrupts();
///   for (...) { if (interrupted()) break; ... }
///   save(...);
///   end_on_interrupts();
///   if (interrupted()) return interrupt_status();
void catch_interrupts();

/// True once a signal has come, or, in run_program(), stdout has no reader any more.
bool interrupted();

/// 128 + the signal's number, as a shell has it: 130 after Ctrl-C, 143 after SIGTERM; 0 when none has come.
int interrupt_status();

/// What work throws that is worth nothing when it is not finished; run_program() ends with
/// interrupt_status().
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};
/// Throws Interrupted if interrupted().
void stop_if_interrupted();

}  // namespace gradus::kit
