#pragma once
// The recorder behind a Profile: collects what the library reports on the watched thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gradus/core/memory/detail/ledger.h"
#include "gradus/core/profile/profile.h"
#include "gradus/core/profile/watch.h"
#include "gradus/core/tape/autograd.h"

namespace gradus::detail {

/// An account that a lap of time can be charged to.
struct Account {
  enum Kind : std::uint8_t { forward, backward, range };
  const char* name;
  const char* module;
  Kind kind;
  bool operator==(const Account&) const = default;
};

struct Totals {
  std::int64_t calls = 0, nanoseconds = 0;
  double flops = 0, bytes = 0;
};

/// A trace event, in order of end (ops) or of occurrence (ranges).
struct Event {
  enum Kind : std::uint8_t { op, range_begins, range_ends };
  std::int64_t begin, end;  // nanoseconds since the start; the same for ranges
  std::uint32_t account;
  Kind kind;
  std::int64_t live_bytes;
  double flops, bytes;
};

class Recorder final : public Watcher {
 public:
  explicit Recorder(const ProfileOptions& options);
  /// This thread tells it from now on, and with leave() again whom it told before.
  void watch();
  void leave() const;

  // --- called by the library, on the watched thread
  void op_ends(const char* op, const Array& out, std::span<const Tensor* const> inputs) override;
  void backward_ends(const char* op, const char* module, const Array& dy,
                     std::span<const Gradient> grads) override;
  /// Charges the time so far to the open range.
  void end_lap() override;
  void begin_range(const char* name, const char* own) override;
  void end_range() override;
  void add_work(double flops, double bytes) override;

  // --- read by the Profile; everything by account
  static constexpr std::uint32_t kOutside = 1;  // account for anything outside ops and ranges
  void clear();
  std::int64_t now() const;
  std::int64_t since_last_lap() const { return now() - last_; }
  const std::vector<Account>& accounts() const { return accounts_; }
  const std::vector<Totals>& totals() const { return totals_; }
  const std::vector<Event>& events() const { return events_; }
  std::uint32_t open_account() const { return ranges_.empty() ? kOutside : ranges_.back().own; }
  Ledger::State memory() const { return ledger_->state(); }

 private:
  struct Range {
    std::uint32_t name, own;
  };
  struct Hash {
    std::size_t operator()(const Account& a) const {
      const std::hash<const void*> hash;
      return (hash(a.name) * 31 + hash(a.module)) * 31 + a.kind;
    }
  };
  std::uint32_t account(const Account& key);
  std::int64_t charge(std::uint32_t account);
  void op_lap(const Account& key, double default_bytes);
  void log(const Event& event);

  Watcher* outer_ = nullptr;
  Ledger* outer_ledger_ = nullptr;
  std::size_t most_events_;
  std::int64_t start_ = 0;        // of the clock
  std::int64_t last_ = 0;         // end of the last lap, since start_
  double flops_ = 0, bytes_ = 0;  // reported in this lap
  std::unordered_map<Account, std::uint32_t, Hash> numbers_;
  std::vector<Account> accounts_;
  std::vector<Totals> totals_;
  std::vector<Event> events_;
  std::vector<Range> ranges_;
  std::unique_ptr<Ledger, Ledger::Release> ledger_{Ledger::create()};
};

}  // namespace gradus::detail
