// The cost of the fixed tree: Communicator::all_reduce next to MPI_Allreduce, for arrays of f32.
//   mpirun -n 4 distributed_allreduce [ROUNDS]
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"

using namespace gradus;

namespace {

/// Milliseconds, the median of the rounds on rank 0, each begun together.
double median(const distributed::Communicator& world, int rounds, const std::function<void()>& call) {
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    world.barrier();
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
    if (round > 0) times.push_back(passed.count());
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds / 2)];
}

}  // namespace

int main(int argc, char** argv) {
  distributed::Session session(argc, argv);
  return session.run([&](const distributed::Communicator& world) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 11;
    if (world.rank() == 0) std::printf("%12s %12s %12s\n", "f32", "tree, ms", "MPI, ms");
    for (int n = 1024; n <= 1 << 24; n *= 8) {
      const Tensor x = zeros({n});
      const double tree = median(world, rounds, [&] { world.all_reduce(x); });
      float* const data = x.mutable_span<float>().data();
      const double plain = median(
          world, rounds, [&] { MPI_Allreduce(MPI_IN_PLACE, data, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
      if (world.rank() == 0) std::printf("%12d %12.3f %12.3f\n", n, tree, plain);
    }
  });
}
