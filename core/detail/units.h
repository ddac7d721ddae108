#pragma once
// Human-readable numbers.

#include <string>

namespace gradus {

/// "512 B", "1.5 KiB", "3.0 GiB"
std::string human_bytes(double bytes);
/// Three digits: "950 ns", "12.3 us", "1.50 ms", "2.00 s"
std::string human_seconds(double seconds);
/// The same in thousands: "950", "12.3 G"
std::string human_rate(double rate);

}  // namespace gradus
