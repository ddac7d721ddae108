#include "distributed/speed/costs.h"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "gradus/gradus.h"

namespace gradus::speed {

std::vector<double> in_turn(const distributed::Communicator& world,
                            const std::vector<std::function<void()>>& calls, int rounds) {
  std::vector<std::vector<double>> times(calls.size());
  for (int round = 0; round <= rounds; ++round)
    for (std::size_t i = 0; i < calls.size(); ++i) {
      world.barrier();
      const auto start = std::chrono::steady_clock::now();
      calls[i]();
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      if (round == 0) continue;
      const std::vector<double> all = world.all_gather(tensor(passed.count(), f64)).to_vector<double>();
      times[i].push_back(*std::max_element(all.begin(), all.end()));
    }
  std::vector<double> medians;
  for (std::vector<double>& t : times) {
    std::nth_element(t.begin(), t.begin() + rounds / 2, t.end());
    medians.push_back(t[static_cast<std::size_t>(rounds / 2)]);
  }
  return medians;
}

void mpi_all_reduce(const distributed::Communicator& world, const Tensor& x) {
  if (world.size() == 1) return;
  float* const data = x.mutable_span<float>().data();
  MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(x.numel()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

namespace {

/// From one rank to the next, whose partner is rank ^ 1; twice the way and back, in half the time.
void there_and_back(const distributed::Communicator& world, const Tensor& x) {
  const int peer = world.rank() ^ 1;
  if (world.rank() % 2 == 0) {
    world.send(x, peer);
    world.recv(x, peer);
  } else {
    world.recv(x, peer);
    world.send(x, peer);
  }
}

}  // namespace

nlohmann::ordered_json measure_costs(const distributed::Communicator& world, double largest, int rounds) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const double barrier = in_turn(world, {[&] { world.barrier(); }}, 10 * rounds)[0];
  rows.push_back({{"call", "barrier"}, {"bytes", 0}, {"seconds", barrier}});
  const std::int64_t ranks = world.size();
  for (double bytes = 64; bytes <= largest; bytes *= 8) {
    const auto n = std::max<std::int64_t>(static_cast<std::int64_t>(bytes) / 4 / ranks, 1) * ranks;
    const Tensor x = zeros({n}), matrix = x.reshape({ranks, n / ranks}), part = zeros({n / ranks});
    const std::vector<double> seconds =
        in_turn(world,
                {[&] { world.all_reduce(x); }, [&] { mpi_all_reduce(world, x); },
                 [&] { world.reduce_scatter(matrix); }, [&] { world.all_gather(part); },
                 [&] { world.broadcast(x); }, [&] { there_and_back(world, x); }},
                bytes > 1e6 ? rounds : 5 * rounds);
    constexpr const char* kCalls[] = {"all_reduce", "MPI_Allreduce", "reduce_scatter",
                                      "all_gather", "broadcast",     "send and recv"};
    for (std::size_t i = 0; i < seconds.size(); ++i)
      rows.push_back(
          {{"call", kCalls[i]}, {"bytes", n * 4}, {"seconds", i == 5 ? seconds[i] / 2 : seconds[i]}});
  }
  return rows;
}

std::vector<Measured> points_of(const nlohmann::ordered_json& costs, const char* call) {
  std::vector<Measured> points;
  for (const auto& row : costs)
    if (row["call"] == call) points.push_back({row["bytes"], row["seconds"]});
  return points;
}

}  // namespace gradus::speed
