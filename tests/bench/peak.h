#pragma once
// What the machine can do at most, measured by loops that do nothing else.

namespace gradus::bench {

/// Multiplications and additions a second, f32, on this thread pool: registers only, widest vectors the CPU
/// has.
double peak_flops();
/// Bytes a second read from memory, in two streams for each thread.
double read_bandwidth();
/// Bytes a second read and written again in place.
double update_bandwidth();
/// Bytes a second read and written elsewhere. (A store into memory that is in no cache reads it first.)
double copy_bandwidth();

}  // namespace gradus::bench
