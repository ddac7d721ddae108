#pragma once
// What communication costs on this machine.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "distributed/speed/model.h"
#include "gradus/distributed/communicator.h"

namespace gradus::speed {

/// Seconds of each call, the median over rounds of the slowest rank's time; the calls take turns, and all
/// ranks begin one together. One unmeasured round comes first.
std::vector<double> in_turn(const distributed::Communicator& world,
                            const std::vector<std::function<void()>>& calls, int rounds);

/// MPI's own sum, in place, of a tensor of f32; of one rank nothing.
void mpi_all_reduce(const distributed::Communicator& world, const Tensor& x);

/// Every call of a Communicator, from 4 bytes to `largest`: rows {"call", "bytes", "seconds"}. Bytes are
/// those of the whole array: what all_reduce sums, reduce_scatter divides and all_gather collects.
nlohmann::ordered_json measure_costs(const distributed::Communicator& world, double largest, int rounds);

/// The rows of one call, for fit().
std::vector<Measured> points_of(const nlohmann::ordered_json& costs, const char* call);

}  // namespace gradus::speed
