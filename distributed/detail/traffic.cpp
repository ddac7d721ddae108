#include "gradus/distributed/detail/traffic.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "gradus/core/check.h"

namespace gradus::distributed::detail {

namespace {

using Clock = std::chrono::steady_clock;
// A rank that waits for a message polls, then offers its core to others, then sleeps: there may be more ranks
// than cores. MPI moves a large message only while it is polled, so ours are small enough to arrive before
// the sleep.
constexpr std::chrono::microseconds kPolls{50}, kYields{2000}, kSleep{50};
constexpr std::chrono::milliseconds kLook{50};     // how often it looks whether it waits in vain
constexpr std::chrono::milliseconds kGrace{1000};  // for messages of a rank that has ended

/// The calls that another rank may make in place of the expected one.
constexpr std::array kCollective{Kind::barrier, Kind::broadcast, Kind::all_reduce, Kind::reduce_scatter,
                                 Kind::all_gather};

/// A message in one direction or both, waited for.
class Simple final : public Operation {
 public:
  Simple(const Call& call, Exchange exchange, int peer) : Operation(call), exchange_(std::move(exchange)) {
    peer_ = peer;
  }
  bool poll() override { return exchange_.done(); }

 private:
  Exchange exchange_;
};

}  // namespace

const char* name(Kind kind) {
  switch (kind) {
    case Kind::barrier:
      return "barrier";
    case Kind::broadcast:
      return "broadcast";
    case Kind::all_reduce:
      return "all_reduce";
    case Kind::reduce_scatter:
      return "reduce_scatter";
    case Kind::all_gather:
      return "all_gather";
    case Kind::end:
      return "the end of the program";
    case Kind::message:
      break;
  }
  return "send and recv";
}

void Exchange::begin_send(Transport& transport, const Call& call, ConstBytes bytes, int to) {
  kind_ = call.kind;
  rank_ = transport.rank();
  sent_ = transport.send(bytes, to, call.tag());
}

void Exchange::begin_receive(Transport& transport, const Call& call, Bytes bytes, int from) {
  kind_ = call.kind;
  rank_ = transport.rank();
  expected_ = bytes.size();
  from_ = from;
  received_ = transport.receive(bytes, from, call.tag());
}

bool Exchange::done() {
  if (sent_ && sent_->done()) sent_.reset();
  if (received_ && received_->done()) {
    const std::size_t bytes = std::exchange(received_, nullptr)->bytes();
    if (bytes == Transfer::kTooMany)
      fail_with(
          "{}: rank {} expects {} bytes from rank {}, which sent more: give both the same shape and dtype",
          name(kind_), rank_, expected_, from_);
    check(bytes == expected_,
          "{}: rank {} expects {} bytes from rank {}, which sent {}: give both the same shape and dtype",
          name(kind_), rank_, expected_, from_, bytes);
  }
  return !sent_ && !received_;
}

Traffic::Traffic(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), ended_(static_cast<std::size_t>(transport_->size())) {}

Call Traffic::begin(Kind kind) {
  if (interrupted_)
    fail_with("{}: an error interrupted {}, so the ranks no longer agree: end the program", name(kind),
              name(*interrupted_));
  for (const Operation* sum : open_)
    check(next_ - sum->call().number < Call::kNumbers,
          "{}: {} calls after a sum that is still under way: wait() for it first", name(kind),
          Call::kNumbers);
  return {kind, next_++};
}

/// The other sums, and messages that nobody waits for: another rank may wait for one of them before it does
/// what is waited for here.
void Traffic::move_on(const Operation& waiting) {
  for (std::size_t i = 0; i < open_.size(); ++i)  // which poll() may make shorter
    if (open_[i] != &waiting) open_[i]->poll();
  std::erase_if(kept_, [](const std::unique_ptr<Operation>& message) { return message->poll(); });
}

void Traffic::wait(Operation& operation) {
  Clock::time_point start = Clock::now(), next_look = start + kLook;
  std::int64_t messages = operation.messages();
  try {
    while (!operation.poll()) {
      move_on(operation);
      const Clock::time_point now = Clock::now();
      if (operation.messages() != messages) {
        messages = operation.messages();
        start = now;
        next_look = now + kLook;
      }
      if (now >= next_look) {
        look_around(operation, now - start);
        next_look = now + kLook;
      }
      if (now - start > kYields)
        std::this_thread::sleep_for(kSleep);
      else if (now - start > kPolls)
        std::this_thread::yield();
    }
  } catch (...) {
    interrupt(operation.call());
    throw;
  }
}

/// Throws when what a rank waits for cannot come.
void Traffic::look_around(const Operation& waiting, std::chrono::duration<double> waited) {
  const Call& call = waiting.call();
  hear_who_ended();
  if (call.kind == Kind::message) {
    // A message sent before the end may arrive after it.
    const End& end = ended_[static_cast<std::size_t>(waiting.peer())];
    check(end.calls < 0 || Clock::now() - end.heard < kGrace,
          "{}: rank {} waits for rank {}, which has ended its program", name(call.kind), rank(),
          waiting.peer());
  } else {
    for (int other = 0; other < size(); ++other) {
      const std::int64_t calls = ended_[static_cast<std::size_t>(other)].calls;
      check(calls < 0 || static_cast<std::uint64_t>(calls) > call.number || call.kind == Kind::end,
            "{}: rank {} waits for all ranks, but rank {} has ended its program: every rank makes the same "
            "calls in the same order",
            name(call.kind), rank(), other);
    }
    for (const Kind other : kCollective) {
      if (other == call.kind) continue;
      const int from = transport_->arrived(Transport::kAnyRank, Call{other, call.number}.tag());
      check(from == Transport::kNone,
            "rank {} is at {}, but rank {} at {}, in the collective call number {} of each: every rank makes "
            "the same calls in the same order",
            rank(), name(call.kind), from, name(other), call.number + 1);
    }
  }
  check(waited < timeout_,
        "{}: rank {} has waited {:.0f} s for rank {}: it hangs or computes for longer than the timeout; "
        "set_timeout() sets another",
        name(call.kind), rank(), waited.count(), waiting.peer());
}

void Traffic::hear_who_ended() {
  const Call end{Kind::end, 0};
  for (int from; (from = transport_->arrived(Transport::kAnyRank, end.tag())) != Transport::kNone;) {
    std::int64_t calls = 0;
    const std::unique_ptr<Transfer> transfer =
        transport_->receive(std::as_writable_bytes(std::span(&calls, 1)), from, end.tag());
    while (!transfer->done()) std::this_thread::yield();  // it has arrived
    ended_[static_cast<std::size_t>(from)] = {calls, Clock::now()};
  }
}

void Traffic::exchange(const Call& call, ConstBytes out, int to, Bytes in, int from) {
  Exchange both;
  both.begin_receive(*transport_, call, in, from);
  both.begin_send(*transport_, call, out, to);
  Simple operation(call, std::move(both), from);
  wait(operation);
}

void Traffic::send(const Call& call, ConstBytes out, int to) {
  Exchange one;
  one.begin_send(*transport_, call, out, to);
  Simple operation(call, std::move(one), to);
  wait(operation);
}

void Traffic::receive(const Call& call, Bytes in, int from) {
  Exchange one;
  one.begin_receive(*transport_, call, in, from);
  Simple operation(call, std::move(one), from);
  wait(operation);
}

/// Sent to every rank directly, so that a rank that waits for any other one gets it.
void Traffic::end() {
  class Ending final : public Operation {
   public:
    Ending(Traffic& traffic, std::uint64_t calls) : Operation({Kind::end, calls}), traffic_(traffic) {}
    bool poll() override {
      traffic_.hear_who_ended();
      for (peer_ = 0; peer_ < traffic_.size(); ++peer_)
        if (peer_ != traffic_.rank() && traffic_.ended_[static_cast<std::size_t>(peer_)].calls < 0)
          return false;
      return true;
    }

   private:
    Traffic& traffic_;
  };
  const std::int64_t calls = static_cast<std::int64_t>(next_);
  std::vector<std::unique_ptr<Transfer>> sent;
  for (int to = 0; to < size(); ++to)
    if (to != rank())
      sent.push_back(transport_->send(std::as_bytes(std::span(&calls, 1)), to, Call{Kind::end, 0}.tag()));
  Ending all(*this, next_);
  wait(all);
  for (const std::unique_ptr<Transfer>& transfer : sent)
    while (!transfer->done()) std::this_thread::yield();
}

}  // namespace gradus::distributed::detail
