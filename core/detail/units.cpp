#include "gradus/core/detail/units.h"

#include <initializer_list>

#include "gradus/core/detail/format.h"

namespace gradus {

namespace {

/// Three digits: 1.50, 12.3, 950.
std::string three_digits(double amount) {
  return fmt::format("{:.{}f}", amount, amount < 9.995 ? 2 : amount < 99.95 ? 1 : 0);
}

/// In the largest of the units, each a thousand times the one before, of which there is at least one.
std::string in_thousands(double amount, std::initializer_list<const char*> units) {
  auto unit = units.begin();
  for (; amount >= 999.5 && unit + 1 != units.end(); ++unit) amount /= 1000;
  return three_digits(amount) + *unit;
}

}  // namespace

std::string human_bytes(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}) {
    if (bytes < 1024) break;
    bytes /= 1024;
    unit = next;
  }
  return fmt::format("{:.1f} {}", bytes, unit);
}

std::string human_seconds(double seconds) { return in_thousands(seconds * 1e9, {" ns", " us", " ms", " s"}); }

std::string human_rate(double rate) { return in_thousands(rate, {"", " k", " M", " G", " T", " P"}); }

}  // namespace gradus
