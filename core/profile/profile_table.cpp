// A profile as text: entries put together by op or by module, the largest first.

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "gradus/core/detail/format.h"
#include "gradus/core/detail/units.h"
#include "gradus/core/profile/profile.h"

namespace gradus {

namespace {

constexpr std::size_t kNameWidth = 37;  // makes rows of 110 columns

bool is_number(std::string_view part) {
  return !part.empty() &&
         std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "layers.3.norm1": cut after `depth` names, numbers merged into "*".
std::string group_of(const std::string& path, const ProfileTableOptions& options) {
  std::string group;
  int names = 0;
  for (std::size_t begin = 0; begin <= path.size() && (options.depth == 0 || names < options.depth);) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    group += (begin == 0 ? "" : ".") + (options.merge_layers && is_number(part) ? "*" : part);
    begin = end + 1;
    ++names;
  }
  return group;
}

/// The row an entry belongs to. Entries other than ops have no module and keep their name.
std::string row_of(const ProfileEntry& entry, const ProfileTableOptions& options) {
  if (options.by == ProfileBy::op || !entry.is_op) return entry.name;
  return entry.module.empty() ? "(no module)" : group_of(entry.module, options);
}

void add(ProfileEntry& total, const ProfileEntry& entry) {
  total.calls += entry.calls;
  total.backward_calls += entry.backward_calls;
  total.forward_seconds += entry.forward_seconds;
  total.backward_seconds += entry.backward_seconds;
  total.range_seconds += entry.range_seconds;
  total.flops += entry.flops;
  total.bytes += entry.bytes;
  total.bytes_at_peak += entry.bytes_at_peak;
  total.backward_bytes_at_peak += entry.backward_bytes_at_peak;
  total.live_bytes += entry.live_bytes;
  total.live_blocks += entry.live_blocks;
}

/// One entry a row, the largest by `size` first, none without any; the smallest in one row when there are
/// more than wanted.
template <class Size>
std::vector<ProfileEntry> grouped(const std::vector<ProfileEntry>& entries,
                                  const ProfileTableOptions& options, Size size) {
  check(options.depth >= 0 && options.rows >= 0,
        "Profile: expects a depth and rows of 0 or more, got {} and {}", options.depth, options.rows);
  std::map<std::string, ProfileEntry> rows;
  for (const ProfileEntry& entry : entries) add(rows[row_of(entry, options)], entry);
  std::vector<ProfileEntry> sorted;
  for (auto& [name, row] : rows) {
    if (size(row) <= 0) continue;
    row.name = name;
    sorted.push_back(std::move(row));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const ProfileEntry& a, const ProfileEntry& b) { return size(a) > size(b); });
  const auto most = static_cast<std::size_t>(options.rows);
  if (most > 0 && sorted.size() > most + 1) {
    ProfileEntry others{.name = fmt::format("({} others)", sorted.size() - most), .module = ""};
    for (std::size_t i = most; i < sorted.size(); ++i) add(others, sorted[i]);
    sorted.resize(most);
    sorted.push_back(others);
  }
  return sorted;
}

/// A name shortened to fit: the end is more informative than the middle.
std::string shortened(const std::string& name) {
  if (name.size() <= kNameWidth) return name;
  const std::size_t head = 10, tail = kNameWidth - head - 3;
  return name.substr(0, head) + "..." + name.substr(name.size() - tail);
}

std::string or_dash(bool there, const std::string& text) { return there ? text : "-"; }

std::string share_of(double part, double whole) {
  return fmt::format("{:.1f}%", whole > 0 ? 100 * part / whole : 0);
}

}  // namespace

std::string Profile::table(const ProfileTableOptions& options) const {
  const std::vector<ProfileEntry> all = entries();
  ProfileEntry total;
  for (const ProfileEntry& entry : all) add(total, entry);
  std::string text;
  const auto line = [&](const std::array<std::string, 8>& c) {
    text += fmt::format("{:<{}} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9} {:>9}\n", c[0], kNameWidth, c[1], c[2],
                        c[3], c[4], c[5], c[6], c[7]);
  };
  const auto row = [&](const ProfileEntry& e) {
    const double seconds = e.seconds();
    line({shortened(e.name), or_dash(e.calls > 0, std::to_string(e.calls)),
          or_dash(e.forward_seconds > 0, human_seconds(e.forward_seconds)),
          or_dash(e.backward_seconds > 0, human_seconds(e.backward_seconds)), human_seconds(seconds),
          share_of(seconds, total.seconds()), or_dash(e.flops > 0, human_rate(e.flops / seconds)),
          or_dash(e.bytes > 0, human_rate(e.bytes / seconds))});
  };
  line({options.by == ProfileBy::op ? "op" : "module", "calls", "forward", "backward", "time", "share",
        "FLOP/s", "bytes/s"});
  for (const ProfileEntry& entry : grouped(all, options, [](const auto& e) { return e.seconds(); }))
    row(entry);
  total.name = "total";
  total.calls = 0;
  row(total);
  return text;
}

std::string Profile::memory_table(const ProfileTableOptions& options) const {
  const std::vector<ProfileEntry> all = entries();
  ProfileEntry total;
  for (const ProfileEntry& entry : all) add(total, entry);
  std::string text;
  const auto line = [&](const std::array<std::string, 6>& c) {
    text += fmt::format("{:<{}} {:>12} {:>9} {:>14} {:>12} {:>9}\n", c[0], kNameWidth, c[1], c[2], c[3], c[4],
                        c[5]);
  };
  const auto bytes = [](std::int64_t n) { return or_dash(n > 0, human_bytes(static_cast<double>(n))); };
  const auto row = [&](const ProfileEntry& e) {
    line({shortened(e.name), bytes(e.bytes_at_peak),
          share_of(static_cast<double>(e.bytes_at_peak), static_cast<double>(total.bytes_at_peak)),
          bytes(e.backward_bytes_at_peak), bytes(e.live_bytes),
          or_dash(e.live_blocks > 0, std::to_string(e.live_blocks))});
  };
  line({"memory made by", "at the peak", "share", "in backward", "alive now", "blocks"});
  for (const ProfileEntry& e : grouped(all, options, [](const auto& entry) {
         return static_cast<double>(entry.bytes_at_peak) + 1e-9 * static_cast<double>(entry.live_bytes);
       }))
    row(e);
  total.name = "total";
  row(total);
  return text;
}

}  // namespace gradus
