#pragma once
// Traffic: what the copies of one Communicator share. It numbers the collective calls, so that each message
// says which call it belongs to, and waits in a way that ends: with the result, or with an error that says
// which rank did what instead.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gradus/distributed/detail/transport.h"

namespace gradus::distributed::detail {

enum class Kind : int { barrier, broadcast, all_reduce, reduce_scatter, all_gather, end, message };
const char* name(Kind kind);

/// A collective call, the same on all ranks, or (Kind::message) a message with a tag of the user's.
struct Call {
  static constexpr std::uint64_t kNumbers = 2048;  // calls that may be under way at once; tags of users

  Kind kind;
  std::uint64_t number;  // how many collective calls were begun before it; for a message, its tag
  int tag() const { return static_cast<int>(number % kNumbers * 16) + static_cast<int>(kind); }
};

/// A call that is under way.
class Operation {
 public:
  explicit Operation(Call call) : call_(call) {}
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Goes on as far as it can without waiting; whether it is complete.
  virtual bool poll() = 0;
  const Call& call() const { return call_; }
  int peer() const { return peer_; }                   // the rank it waits for
  std::int64_t messages() const { return messages_; }  // that have come so far

 protected:
  /// Waits as another one does, which is a part of it.
  void wait_as(const Operation& part) {
    call_ = part.call_;
    peer_ = part.peer_;
    messages_ = part.messages_;
  }

  Call call_;
  int peer_ = 0;
  std::int64_t messages_ = 0;
};

/// A message in each direction, or in one.
class Exchange {
 public:
  void begin_send(Transport& transport, const Call& call, ConstBytes bytes, int to);
  void begin_receive(Transport& transport, const Call& call, Bytes bytes, int from);
  /// Whether nothing is under way; throws when a message had another size than expected.
  bool done();

 private:
  std::unique_ptr<Transfer> sent_, received_;
  Kind kind_ = Kind::message;
  std::size_t expected_ = 0;
  int rank_ = 0, from_ = 0;
};

class Traffic {
 public:
  explicit Traffic(std::unique_ptr<Transport> transport);
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  Transport& transport() { return *transport_; }

  /// The next collective call. Throws after an interrupted one, and when kNumbers are under way.
  Call begin(Kind kind);
  /// A sum is under way from here to there: waiting for anything moves it on, too.
  void open(Operation& sum) { open_.push_back(&sum); }
  void close(Operation& sum) { std::erase(open_, &sum); }
  /// Keeps a message that nobody waits for until it is complete.
  void keep(std::unique_ptr<Operation> message) { kept_.push_back(std::move(message)); }
  /// Waits for it; throws when another rank makes a different call or has ended, and after the timeout.
  void wait(Operation& operation);
  /// Sends to one rank and receives from another, as a part of a call.
  void exchange(const Call& call, ConstBytes out, int to, Bytes in, int from);
  void send(const Call& call, ConstBytes out, int to);
  void receive(const Call& call, Bytes in, int from);
  /// Tells all ranks that this one makes no further call, and waits until all have said so.
  void end();
  /// An error ends a call halfway: no other can begin.
  void interrupt(const Call& call) noexcept { interrupted_ = call.kind; }

  void set_timeout(double seconds) { timeout_ = std::chrono::duration<double>(seconds); }

 private:
  void move_on(const Operation& waiting);
  void look_around(const Operation& waiting, std::chrono::duration<double> waited);
  void hear_who_ended();

  std::unique_ptr<Transport> transport_;
  std::vector<Operation*> open_;
  std::vector<std::unique_ptr<Operation>> kept_;
  std::uint64_t next_ = 0;  // the number of the next collective call
  struct End {
    std::int64_t calls = -1;                           // that the rank had made; -1: it has not ended
    std::chrono::steady_clock::time_point heard = {};  // when this one heard of it
  };
  std::vector<End> ended_;  // of each rank
  std::chrono::duration<double> timeout_{1800};
  std::optional<Kind> interrupted_;
};

}  // namespace gradus::distributed::detail
