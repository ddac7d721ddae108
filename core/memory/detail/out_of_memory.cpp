#include "gradus/core/memory/detail/out_of_memory.h"

#include <atomic>
#include <cstdio>
#include <new>

#include "gradus/core/detail/error_calls.h"
#include "gradus/core/detail/place.h"
#include "gradus/core/detail/units.h"
#include "gradus/core/memory/storage.h"

namespace gradus {
namespace {

std::atomic<std::new_handler> own_handler = nullptr;  // the program's own
std::atomic<const Error*> ready_made = nullptr;       // copying an Error takes no memory

/// Room for a message, which an error and its copies share.
struct Message {
  std::atomic<int> holders = 0;
  char text[1024] = {};
};
constinit Message messages[8];  // for as many errors as may exist at once; further ones have the short text

/// An unused message, held once; null where there is none.
Message* take_message() {
  for (Message& message : messages)
    if (int unused = 0; message.holders.compare_exchange_strong(unused, 1)) return &message;
  return nullptr;
}

/// When it is made no memory is left, so it takes none. The text is outside: some C++ libraries keep only 512
/// bytes for exceptions without memory.
class OutOfMemory final : public Error {
 public:
  OutOfMemory(const Error& error, Message* message) : Error(error), message_(message) {}
  OutOfMemory(const OutOfMemory& other) noexcept : Error(other), message_(other.message_) {
    if (message_) ++message_->holders;
  }
  OutOfMemory& operator=(const OutOfMemory&) = delete;
  ~OutOfMemory() override {
    if (message_) --message_->holders;
  }

  const char* what() const noexcept override { return message_ ? message_->text : Error::what(); }

 private:
  Message* message_;
};

[[noreturn]] void tell() {
  Message* const message = take_message();
  if (message) {
    const MemoryStats stats = memory_stats();
    // Short strings, which take no memory.
    const std::string arrays = human_bytes(static_cast<double>(stats.live_bytes));
    const std::string nodes = human_bytes(static_cast<double>(stats.node_bytes));
    const bool inside = *detail::place != '\0';
    std::snprintf(message->text, sizeof message->text,
                  "out of memory: the system gives no more; "
                  "arrays hold %s, the tape's nodes %s, and nothing is cached that could be given back: "
                  "work with smaller arrays or batches, drop tensors whose tape nobody needs, "
                  "or raise the limit on this process (ulimit -v)%s%s%s",
                  arrays.c_str(), nodes.c_str(), inside ? " (in " : "", detail::place, inside ? ")" : "");
  }
  throw OutOfMemory(ErrorCalls::here(*ready_made.load()), message);
}

/// Returning means: try again.
void on_failing_new() {
  if (give_back_cached()) return;
  if (const std::new_handler own = own_handler) return own();
  tell();
}

}  // namespace

void handle_failing_new() {
  if (ready_made.load(std::memory_order_acquire)) return;
  const auto* const error = new Error(ErrorCalls::none("out of memory: work with smaller arrays or batches"));
  const Error* none = nullptr;
  if (ready_made.compare_exchange_strong(none, error))
    own_handler = std::set_new_handler(on_failing_new);
  else
    delete error;
}

}  // namespace gradus
