#pragma once
// Error, which gradus throws for every call it cannot carry out. (at() of a list throws std::out_of_range, as
// that of a std::vector does.)

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus {

/// A call gradus cannot carry out. what() gives the op or layer, what it expected, the shapes it got and,
/// where useful, the remedy: "matmul: a [32, 64] and b [128, 10] do not match: ...".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);

  /// The program's calls that led to the error, innermost first, at most five, without those in gradus and
  /// the standard library: "  at train.cpp:42 in main\n". Empty unless set_error_backtrace(true) was
  /// called before the error, and for a program without debug information (compiled without -g). It takes
  /// tens of milliseconds or more, since the program addr2line reads the debug information.
  std::string backtrace() const;

 private:
  using Calls = std::vector<const void*>;  // addresses in the program, innermost first
  friend struct ErrorCalls;                // core/detail/error_calls.h
  Error(const std::string& message, std::shared_ptr<const Calls> calls);

  std::shared_ptr<const Calls> calls_;  // null: not recorded; empty: wrong input, which has none
};

/// From now on every Error records the calls that led to it, for backtrace(), and an uncaught exception
/// prints them before the program ends. `gradus::set_error_backtrace(true);` at the start of main. A
/// std::terminate_handler set later replaces the one that prints.
///
/// GRADUS_BACKTRACE=1 in the environment does the same from program start, without code changes, also for
/// errors of fail_input(), and explains what is missing if no line is known; GRADUS_BACKTRACE=0 turns it all
/// off. An error costs a few microseconds more; nothing else gets slower.
void set_error_backtrace(bool on);
/// Whether errors record their calls.
bool error_backtrace();

/// Throws Error(message), with " (in <module path>)" after it when a module is running.
[[noreturn]] void fail(const std::string& message);

/// The same for wrong user input, not a bug in the program: an option, a file, a folder. No line of the
/// program is at fault, so backtrace() is empty, and an uncaught one prints no lines.
/// `if (epochs < 1) fail_input("--epochs: expects 1 or more");`
[[noreturn]] void fail_input(const std::string& message);

}  // namespace gradus
