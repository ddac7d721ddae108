#pragma once
// Lets a program check for Ctrl-C between steps, so that it can save its work.

#include <exception>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// SIGINT, SIGTERM and SIGHUP (a closing terminal) end the program at once, even if it was started with them
/// ignored, as by shells in the background; except SIGHUP, which nohup ignores on purpose.
void end_on_interrupts();

/// From now on, the first of these signals only sets a flag, with a message on stderr; a second one ends the
/// program at once.
///
///   catch_interrupts();
///   for (...) { if (interrupted()) break; ... }
///   save(...);
///   end_on_interrupts();
///   if (interrupted()) return interrupt_status();
void catch_interrupts();

/// Acts as if this signal had come while signals are caught, but without a message; once is as good as many
/// times.
void interrupt(int signal_number);

/// True once a signal has come, or, in run_program(), once stdout has no reader.
bool interrupted();

/// 128 + the signal's number, as in shells: 130 after Ctrl-C, 143 after SIGTERM; 0 if none has come.
int interrupt_status();

/// Thrown to end work that has no partial result; run_program() then returns interrupt_status().
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};
/// Throws Interrupted if interrupted().
void stop_if_interrupted();

}  // namespace gradus::kit
