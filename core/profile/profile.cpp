#include "gradus/core/profile/profile.h"

#include <algorithm>
#include <map>

#include "gradus/core/detail/format.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/profile/detail/profile_recorder.h"

namespace gradus {

using detail::Account;
using detail::Ledger;
using Balance = detail::Ledger::Balance;
using detail::Recorder;
using detail::Totals;

Profile::Profile(const ProfileOptions& options) {
  check(options.trace_events >= 0, "Profile: expects trace_events of 0 or more, got {}",
        options.trace_events);
  recorder_ = std::make_unique<Recorder>(options);
  recorder_->watch();
}

Profile::~Profile() { recorder_->leave(); }

void Profile::clear() { recorder_->clear(); }

double Profile::seconds() const { return static_cast<double>(recorder_->now()) * 1e-9; }

namespace {

void add_time(ProfileEntry& entry, const Account& account, const Totals& totals) {
  const double seconds = static_cast<double>(totals.nanoseconds) * 1e-9;
  entry.flops += totals.flops;
  entry.bytes += totals.bytes;
  switch (account.kind) {
    case Account::forward:
      entry.calls += totals.calls;
      entry.forward_seconds += seconds;
      break;
    case Account::backward:
      entry.backward_calls += totals.calls;
      entry.backward_seconds += seconds;
      break;
    case Account::range:
      entry.calls += totals.calls;
      entry.range_seconds += seconds;
  }
}

void add_memory(ProfileEntry& entry, const Account& account, const Balance& peak, const Balance& live) {
  entry.bytes_at_peak += peak.bytes;
  if (account.kind == Account::backward) entry.backward_bytes_at_peak += peak.bytes;
  entry.live_bytes += live.bytes;
  entry.live_blocks += live.blocks;
}

bool seen(const ProfileEntry& entry) {
  return entry.calls > 0 || entry.backward_calls > 0 || entry.seconds() > 0 || entry.bytes_at_peak > 0 ||
         entry.live_blocks > 0;
}

/// Memory live now or at the peak that belongs to no account.
ProfileEntry not_watched(const Ledger::State& watched) {
  const MemoryStats all = memory_stats();
  ProfileEntry rest{.name = "(not watched)",
                    .module = "",
                    .bytes_at_peak = watched.peak_bytes,
                    .live_bytes = all.live_bytes,
                    .live_blocks = all.live_blocks};
  for (const Balance& balance : watched.peak) rest.bytes_at_peak -= balance.bytes;
  for (const Balance& balance : watched.live) {
    rest.live_bytes -= balance.bytes;
    rest.live_blocks -= balance.blocks;
  }
  return rest;
}

}  // namespace

ListOf<ProfileEntry> Profile::entries() const {
  // By name, not pointer: one op may have several pointers.
  std::map<std::pair<std::string, std::string>, ProfileEntry> found;
  const auto& accounts = recorder_->accounts();
  std::vector<Totals> totals = recorder_->totals();
  totals[recorder_->open_account()].nanoseconds += recorder_->since_last_lap();
  Ledger::State memory = recorder_->memory();
  memory.live.resize(accounts.size());
  memory.peak.resize(accounts.size());
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const Account& account = accounts[i == Ledger::kOpen ? Recorder::kOutside : i];
    ProfileEntry& entry = found[{account.name, account.module}];
    entry.name = account.name;
    entry.module = account.module;
    entry.is_op = entry.is_op || account.kind != Account::range;
    add_time(entry, account, totals[i]);
    add_memory(entry, account, memory.peak[i], memory.live[i]);
  }
  ListOf<ProfileEntry> entries{not_watched(memory)};
  for (auto& [name, entry] : found)
    if (seen(entry)) entries.push_back(std::move(entry));
  std::stable_sort(entries.begin(), entries.end(),
                   [](const ProfileEntry& a, const ProfileEntry& b) { return a.seconds() > b.seconds(); });
  return entries;
}

}  // namespace gradus
