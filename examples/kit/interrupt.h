#pragma once
// Ctrl-C as a question a program asks between two steps, so that what is done can be kept.

namespace gradus::kit {

/// From now on the first SIGINT or SIGTERM only sets a flag (and says so on stderr); a second one ends the
/// program at once.
///
///   catch_interrupts();
///   for (...) { if (interrupted()) break; ... }
void catch_interrupts();

/// True once a signal has come.
bool interrupted();

}  // namespace gradus::kit
