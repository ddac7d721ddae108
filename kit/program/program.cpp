#include "gradus/kit/program/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "gradus/core/error.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/program/detail/ending.h"
#include "gradus/kit/program/interrupt.h"

namespace gradus::kit {
namespace {

int stdout_error = 0;  // errno of the first write that failed
std::atomic<bool> silent = false;
std::atomic<bool> not_kept = false;

/// Writes all bytes; returns 0 or errno.
int write_all(int stream, std::string_view text) {
  if (silent) return 0;
  while (!text.empty()) {
    const ssize_t written = ::write(stream, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // another process made the shared stream non-blocking
      pollfd ready = {stream, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void stdout_failed(int reason) {
  if (stdout_error == 0) stdout_error = reason;
  if (reason == EPIPE) interrupt(SIGPIPE);
}

/// Opens closed standard streams, so that a file opened later does not take their place and receive their
/// output. Returns whether stdout was closed.
bool open_closed_streams() {
  bool stdout_closed = false;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    stdout_closed |= stream == STDOUT_FILENO;
    // open() takes the lowest free number, which is this one.
    [[maybe_unused]] const int number = open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
  return stdout_closed;
}

}  // namespace

void print(std::string_view text) {
  if (std::fflush(stdout) != 0) stdout_failed(errno);  // keeps the order with output through stdio
  if (stdout_error != 0) return;
  if (const int reason = write_all(STDOUT_FILENO, text)) stdout_failed(reason);
}

void print_text(std::string_view text) { print(io::printable_text(text)); }

void print_error(std::string_view text) { write_all(STDERR_FILENO, io::printable_text(text)); }

void be_silent() { silent = true; }
bool is_silent() { return silent; }

void training_not_kept() { not_kept = true; }

int status_of_output(std::string_view name, int status) {
  print("");
  if (stdout_error == 0) return status;
  if (stdout_error == EPIPE) return status == 0 ? 128 + SIGPIPE : status;
  print_error(std::string(name) + ": cannot write to stdout: " + std::strerror(stdout_error) + "\n");
  return status == 0 ? 1 : status;
}

int run_program(std::string_view name, const std::function<int()>& work) {
  const bool stdout_closed = open_closed_streams();
  signal(SIGPIPE, SIG_IGN);  // write() reports it instead
  signal(SIGXFSZ, SIG_IGN);  // likewise, like a full disk
  end_on_interrupts();
  set_error_backtrace(true);
  if (stdout_closed) {
    print_error(std::string(name) + ": stdout is closed; to discard its text, redirect it to /dev/null\n");
    return 1;
  }
  int status = 1;
  try {
    status = work();
  } catch (const Interrupted&) {
    status = interrupt_status();
  } catch (const Error& error) {
    std::fflush(stdout);
    print_error(std::string(name) + ": " + error.what() + "\n" + error.backtrace());
  } catch (const std::exception& error) {
    std::fflush(stdout);
    print_error(std::string(name) + ": " + error.what() + "\n");
  }
  if (status == 0) status = interrupt_status();
  if (not_kept && status == interrupt_status()) status = status_not_kept;
  return status_of_output(name, status);
}

}  // namespace gradus::kit
