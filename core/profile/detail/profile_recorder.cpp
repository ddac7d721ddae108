#include "gradus/core/profile/detail/profile_recorder.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "gradus/core/tape/scope.h"
#include "gradus/core/tensor.h"

namespace gradus::detail {

namespace {

std::int64_t clock_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Bytes behind an array: a broadcast one has fewer than elements.
double bytes_of(const Array& x) {
  return static_cast<double>(
      std::min(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()), x.storage().bytes()));
}

}  // namespace

Recorder::Recorder(const ProfileOptions& options)
    : most_events_(static_cast<std::size_t>(options.trace_events)) {
  accounts_ = {{"", "", Account::range}, {"(outside ops)", "", Account::range}};  // kOpen, kOutside
  totals_.resize(accounts_.size());
  start_ = clock_now();
  ledger_->reset_peak();
}

void Recorder::watch() {
  outer_ = std::exchange(watcher, this);
  outer_ledger_ = std::exchange(thread_ledger, ledger_.get());
}

void Recorder::leave() const {
  watcher = outer_;
  thread_ledger = outer_ledger_;
}

std::int64_t Recorder::now() const { return clock_now() - start_; }

void Recorder::clear() {
  std::fill(totals_.begin(), totals_.end(), Totals{});
  events_.clear();
  for (const Range& range : ranges_) log({0, 0, range.name, Event::range_begins, 0, 0, 0});
  flops_ = bytes_ = 0;
  last_ = 0;
  start_ = clock_now();
  ledger_->reset_peak();
}

std::uint32_t Recorder::account(const Account& key) {
  if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
  // The number comes last: if memory runs out before, the entries already added are unused.
  const auto number = static_cast<std::uint32_t>(accounts_.size());
  totals_.resize(number + 1);
  accounts_.push_back(key);
  numbers_.emplace(key, number);
  return number;
}

void Recorder::log(const Event& event) {
  if (events_.size() >= most_events_) return;
  try {
    events_.push_back(event);
  } catch (const std::exception&) {
    most_events_ = events_.size();  // no memory: the trace ends here
  }
}

/// Ends a lap: its time, its work and the memory it took are this account's. Returns when it began.
std::int64_t Recorder::charge(std::uint32_t account) {
  const std::int64_t end = now();
  ledger_->close(account);  // may throw, so it comes first
  Totals& totals = totals_[account];
  totals.nanoseconds += end - last_;
  totals.flops += flops_;
  totals.bytes += bytes_;
  flops_ = bytes_ = 0;
  return std::exchange(last_, end);
}

void Recorder::op_lap(const Account& key, double default_bytes) {
  const std::uint32_t number = account(key);
  if (bytes_ == 0) bytes_ = default_bytes;
  const double flops = flops_, bytes = bytes_;
  const std::int64_t begin = charge(number);
  ++totals_[number].calls;
  log({begin, last_, number, Event::op, memory_stats().live_bytes, flops, bytes});
}

void Recorder::op_ends(const char* op, const Array& out, std::span<const Tensor* const> inputs) {
  double bytes = bytes_of(out);
  bool view = false;
  for (const Tensor* input : inputs) {
    if (!input->defined()) continue;
    view = view || input->array().storage() == out.storage();
    bytes += bytes_of(input->array());
  }
  op_lap({op, current_scope(), Account::forward}, view ? 0 : bytes);
}

void Recorder::backward_ends(const char* op, const char* module, const Array& dy,
                             std::span<const Gradient> grads) {
  double bytes = 0;
  for (const Gradient& grad : grads)
    if (grad.array().defined() && !(grad.array().storage() == dy.storage())) bytes += bytes_of(grad.array());
  op_lap({op, module, Account::backward}, bytes > 0 ? bytes + bytes_of(dy) : 0);
}

void Recorder::end_lap() { charge(open_account()); }

void Recorder::begin_range(const char* name, const char* own) {
  end_lap();
  const Range range{account({name, "", Account::range}), account({own, "", Account::range})};
  ++totals_[range.own].calls;
  ranges_.push_back(range);
  log({last_, last_, range.name, Event::range_begins, memory_stats().live_bytes, 0, 0});
}

/// For a destructor, so it must not throw: without memory the lap goes on and is charged later.
void Recorder::end_range() {
  if (ranges_.empty()) return;
  try {
    end_lap();
  } catch (const std::exception&) {
  }
  log({last_, last_, ranges_.back().name, Event::range_ends, memory_stats().live_bytes, 0, 0});
  ranges_.pop_back();
}

void Recorder::add_work(double flops, double bytes) {
  flops_ += flops;
  bytes_ += bytes;
}

}  // namespace gradus::detail
