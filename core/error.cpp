#include "gradus/core/error.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "gradus/core/detail/error_calls.h"
#include "gradus/core/detail/place.h"
#include "gradus/core/detail/platform.h"

namespace gradus {
namespace {

using Calls = std::vector<const void*>;

constinit std::atomic<bool> switched_on = false;

enum class Wish : char { unknown, none, never, always };

/// GRADUS_BACKTRACE, read at the first use, which may come before main. Threads that meet here read the same.
Wish wish() {
  static constinit std::atomic<Wish> known = Wish::unknown;
  Wish wish = known.load(std::memory_order_relaxed);
  if (wish == Wish::unknown) {
    const char* const text = std::getenv("GRADUS_BACKTRACE");
    wish = !text || !*text ? Wish::none : std::string_view(text) == "0" ? Wish::never : Wish::always;
    known.store(wish, std::memory_order_relaxed);
  }
  return wish;
}

/// Whether a source file belongs to gradus or to the standard library.
bool is_library(std::string_view file) {
  for (const std::string_view folder : {"/include/gradus/", "/include/c++/"})
    if (file.find(folder) != file.npos) return true;
  if (file.starts_with("/usr/include/") || file.starts_with("/usr/lib/")) return true;
  constexpr std::string_view root = GRADUS_SOURCE_DIR;
  if (!file.starts_with(root)) return false;
  file.remove_prefix(root.size());
  constexpr std::string_view parts[] = {"/core/", "/ops/", "/nn/", "/optim/", "/data/", "/kit/", "/text/"};
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return file.starts_with(part); });
}

/// Relative to the current folder where the file is in it.
std::string shown(const std::string& file) {
  char buffer[4096];
  const std::string folder = getcwd(buffer, sizeof buffer) ? std::string(buffer) + "/" : "";
  return folder.size() > 1 && file.starts_with(folder) ? file.substr(folder.size()) : file;
}

std::string text_of(const Calls& calls) {
  constexpr int most = 5;
  std::string text;
  int count = 0;
  for (const platform::SourceLine& call : platform::system().source_lines(calls)) {
    if (is_library(call.file)) continue;
    text += (count == 0 ? "  at " : "  called from ") + shown(call.file) + ":" + std::to_string(call.line) +
            " in " + call.function + "\n";
    if (++count == most) break;
  }
  if (count == 0 && wish() == Wish::always)
    text = std::string("  (no line known: ") + platform::system().why_no_lines() + ")\n";
  return text;
}

/// The calls of this thread; null where they are not wanted, or there is no memory for them.
std::shared_ptr<const Calls> recorded() noexcept {
  static thread_local bool recording = false;  // a failure here may be an Error, too
  if (recording || !error_backtrace()) return nullptr;
  recording = true;
  std::shared_ptr<const Calls> calls;
  try {
    calls = std::make_shared<const Calls>(platform::system().calls());
  } catch (...) {
  }
  recording = false;
  return calls;
}

constinit std::atomic<std::terminate_handler> handler_before = nullptr;

[[noreturn]] void on_terminate() {
  try {
    std::string text;
    bool input = false;
    const std::exception_ptr uncaught = std::current_exception();
    try {
      if (uncaught) std::rethrow_exception(uncaught);
    } catch (const Error& error) {
      text = error.backtrace();
      input = ErrorCalls::is_input(error);
    } catch (...) {
    }
    // If uncaught, the stack still holds the calls that led to the exception.
    if (text.empty() && !input) text = text_of(platform::system().calls());
    const char* const what =
        uncaught ? "uncaught exception:\n" : "std::terminate() was called without an exception:\n";
    if (!text.empty()) std::fputs((what + text).c_str(), stderr);
  } catch (...) {
  }
  if (const std::terminate_handler before = handler_before) before();
  std::abort();
}

void install_handler() {
  static constinit std::atomic<bool> installed = false;
  if (installed.exchange(true)) return;
  handler_before = std::get_terminate();
  std::set_terminate(on_terminate);
}

// When the library is loaded: an uncaught exception of another type may come before any Error.
[[maybe_unused]] const bool on_at_start = error_backtrace();

std::string with_place(const std::string& message) {
  const std::string path = detail::place;
  return path.empty() ? message : message + " (in " + path + ")";
}

}  // namespace

bool error_backtrace() {
  const bool on =
      wish() == Wish::always || (switched_on.load(std::memory_order_relaxed) && wish() != Wish::never);
  if (on) install_handler();
  return on;
}

void set_error_backtrace(bool on) {
  switched_on.store(on, std::memory_order_relaxed);
  error_backtrace();
}

Error::Error(const std::string& message) : Error(message, recorded()) {}

Error::Error(const std::string& message, std::shared_ptr<const Calls> calls)
    : std::runtime_error(message), calls_(std::move(calls)) {}

std::string Error::backtrace() const { return calls_ ? text_of(*calls_) : ""; }

Error ErrorCalls::none(const std::string& message) { return Error(message, nullptr); }

Error ErrorCalls::input(const std::string& message) {
  return Error(message, std::make_shared<const Calls>());
}

bool ErrorCalls::is_input(const Error& error) { return error.calls_ && error.calls_->empty(); }

Error ErrorCalls::here(const Error& error) {
  Error copy = error;
  copy.calls_ = recorded();
  return copy;
}

void ErrorCalls::rethrow(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (Error& thrown) {
    const auto here = recorded();
    if (thrown.calls_ && !is_input(thrown) && here) try {
        Calls both = *thrown.calls_;
        both.insert(both.end(), here->begin(), here->end());
        thrown.calls_ = std::make_shared<const Calls>(std::move(both));
      } catch (...) {  // no memory: the other thread's calls must suffice
      }
    throw;
  }
}

void fail(const std::string& message) { throw Error(with_place(message)); }

void fail_input(const std::string& message) {
  if (wish() == Wish::always) fail(message);
  throw ErrorCalls::input(with_place(message));
}

}  // namespace gradus
