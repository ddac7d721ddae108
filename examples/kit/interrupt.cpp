#include "kit/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace gradus::kit {
namespace {

std::atomic<bool> seen = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a handler may only touch lock-free atomics");

// Only async-signal-safe calls are allowed in here: no printf, no exceptions, no memory.
extern "C" void gradus_kit_on_signal(int signal_number) {
  const int saved_errno = errno;
  if (seen.exchange(true)) {
    signal(signal_number, SIG_DFL);  // the exit status says which signal it was
    raise(signal_number);            // delivered when this handler returns
    return;
  }
  constexpr char message[] = "\nStopping after this step; Ctrl-C again ends at once.\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, message, sizeof(message) - 1);
  errno = saved_errno;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = gradus_kit_on_signal;
  action.sa_flags = SA_RESTART;  // reads and writes under way go on
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return seen; }

}  // namespace gradus::kit
