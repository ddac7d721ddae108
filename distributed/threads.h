#pragma once
// Ranks as threads of one process: for tests, and to try a program without MPI.

#include <functional>

#include "gradus/distributed/communicator.h"

namespace gradus::distributed {

/// Runs main(world) on `ranks` threads, each of which is a rank: rank r of `ranks`. Returns when all have.
/// When one throws, calls of the others that wait for it throw too, and its exception is rethrown here. Each
/// thread starts like any other: default_generator() with seed 0, default_dtype() f32.
///
///     distributed::run_threads(4, [&](distributed::Communicator world) { train(world); });
void run_threads(int ranks, const std::function<void(Communicator world)>& main);

}  // namespace gradus::distributed
