#include "gradus/kit/program/interrupt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "gradus/kit/program/detail/ending.h"

namespace gradus::kit {
namespace {

std::atomic<int> seen = 0;              // the signal that came first
std::atomic<std::int64_t> seen_at = 0;  // in milliseconds
std::atomic<bool> catching = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "a handler may only touch lock-free atomics");

std::int64_t milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Only async-signal-safe calls are allowed here: no printf, no exceptions, no allocation.
extern "C" void gradus_kit_on_signal(int signal_number) {
  const int saved_errno = errno;
  int none = 0;
  const std::int64_t now = milliseconds();
  const bool first = catching && seen.compare_exchange_strong(none, signal_number);
  if (first) seen_at = now;
  // A closing terminal and its shell both send SIGHUP, so repeated signals are ignored, except Ctrl-C.
  const bool echo = catching && !first && signal_number != SIGINT && now - seen_at < 1000;
  if (echo) {
    errno = saved_errno;
    return;
  }
  if (!first) {
    signal(signal_number, SIG_DFL);  // the exit status says which signal it was
    raise(signal_number);
    _exit(128 + signal_number);  // the signal does not kill the first process of a container
  }
  constexpr char message[] = "\nStopping after this step. Ctrl-C again ends at once.\n";
  if (!is_silent()) {
    [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, message, sizeof(message) - 1);
  }
  errno = saved_errno;
}

void handle(int signal_number) {
  struct sigaction action {};
  action.sa_handler = gradus_kit_on_signal;
  action.sa_flags = SA_RESTART | SA_NODEFER;  // resumes reads and writes; raise() above ends at once
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, nullptr);
}

void handle_all() {
  handle(SIGINT);
  handle(SIGTERM);
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) handle(SIGHUP);
}

}  // namespace

void end_on_interrupts() {
  catching = false;
  handle_all();
}

void catch_interrupts() {
  catching = true;
  handle_all();
}

bool interrupted() { return seen != 0; }

void interrupt(int signal_number) {
  int none = 0;
  seen.compare_exchange_strong(none, signal_number);
}

int interrupt_status() { return seen == 0 ? 0 : 128 + seen; }

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted();
}

}  // namespace gradus::kit
