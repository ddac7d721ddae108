// A data-parallel step on machines that are simulated, by SimGrid's SMPI: the library's own tree, slices,
// buckets, calls and MPI transport send the gradients of a model, whose computing takes the time that
// speed/model.h says. record.sh in this folder builds and runs it.
//   smpirun -np RANKS -platform CLUSTER -hostfile HOSTS simulate MODEL TOKENS BUCKET_BYTES POLL_SECONDS
// prints the seconds of a step: computing, simulated.

#include <mpi.h>
#include <smpi/smpi.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "distributed/speed/model.h"
#include "gradus/core/check.h"
#include "gradus/distributed/detail/layout.h"
#include "gradus/distributed/detail/mpi.h"
#include "gradus/distributed/detail/tree.h"

namespace gradus {

void spend(double seconds) { simgrid::s4u::this_actor::sleep_for(seconds); }

std::byte* region(std::size_t bytes) {
  static std::byte* const all = static_cast<std::byte*>(SMPI_SHARED_MALLOC(std::size_t{1} << 31));
  if (bytes > std::size_t{1} << 31) throw std::runtime_error("a bucket has more than 2 GiB");
  return all;
}

double& memory_speed() {
  static double speed = 0;
  return speed;
}

const char* name(DType) { return "f32"; }

namespace detail {
void fail_formatted(std::string_view message, std::initializer_list<Argument>) {
  throw std::runtime_error(std::string(message));
}
}  // namespace detail

namespace {

using namespace distributed::detail;
using distributed::detail::Bucket;

/// GradientStep, with times in place of gradients.
class SimulatedStep {
 public:
  SimulatedStep(Traffic& traffic, const Layout& layout, const speed::Profile& profile, double poll)
      : traffic_(traffic), layout_(layout), profile_(profile), poll_(poll) {}

  void run() {
    spend(profile_.forward);
    Sum figures = begin_small(2 + 2 * traffic_.size());
    for (const Bucket& bucket : layout_.buckets())
      sums_.push_back({traffic_.begin(Kind::all_reduce), bucket.parameters.size(), nullptr});
    double now = 0;
    for (const speed::Profile::Arrival& arrival : profile_.arrivals) {
      spend(arrival.seconds - now);
      now = arrival.seconds;
      arrive(arrival.parameter, figures);
      poll();
    }
    spend(profile_.backward - now);
    while (!poll()) wait();
    Sum used = begin_small(static_cast<std::int64_t>(profile_.sizes.size()));
    while (!used.tree->poll()) wait();
    spend(profile_.rest);
    sums_.clear();
  }

 private:
  struct Sum {
    Call call;
    std::size_t missing = 0;
    std::unique_ptr<TreeOperation> tree;
    std::unique_ptr<Slices> slices = {};
    bool done = false;
  };

  /// A sum of a few numbers, as all ranks need them in a step.
  Sum begin_small(std::int64_t n) {
    Sum sum{traffic_.begin(Kind::all_reduce)};
    sum.slices = std::make_unique<Slices>(n, traffic_.size());
    sum.tree = std::make_unique<TreeOperation>(traffic_, sum.call, Array::empty({n}, f64), *sum.slices,
                                               TreeOperation::sum_and_share);
    sum.done = sum.tree->poll();
    return sum;
  }

  void arrive(std::size_t i, Sum& figures) {
    const std::size_t b = layout_.place(i).bucket;
    const Bucket& bucket = layout_.buckets()[b];
    spend(2.0 * 4.0 * static_cast<double>(profile_.sizes[i]) / profile_.memory_speed);  // into the bucket
    if (--sums_[b].missing > 0) return;
    const auto summed = [&](const Array&) { return figures.done || (figures.done = figures.tree->poll()); };
    sums_[b].tree =
        std::make_unique<TreeOperation>(traffic_, sums_[b].call, Array::empty({bucket.slices.size()}, f32),
                                        bucket.slices, TreeOperation::sum_and_share, summed);
  }

  bool poll() {
    bool all = true;
    for (Sum& sum : sums_) {
      if (!sum.done && sum.tree) sum.done = sum.tree->poll();
      all = all && sum.done;
    }
    return all;
  }

  /// Until it looks again: poll_ after the last message, then a fortieth of the time since then, which is a
  /// percent of what the message takes, on average.
  void wait() {
    std::int64_t state = 0;
    for (const Sum& sum : sums_) state = state * 31 + (sum.tree ? sum.tree->peer() + 2 : sum.done);
    if (state != state_) since_ = MPI_Wtime();
    state_ = state;
    spend(std::max(poll_, (MPI_Wtime() - since_) / 40));
  }

  Traffic& traffic_;
  const Layout& layout_;
  const speed::Profile& profile_;
  double poll_;
  std::vector<Sum> sums_;
  std::int64_t state_ = 0;  // of all sums, at the last look
  double since_ = 0;        // when it became so
};

void simulate(char** arguments) {
  Traffic traffic(start_mpi());
  set_piece_of_sums(std::int64_t{1} << 30);  // halves whole: a simulated network sends pieces no faster
  const speed::Profile profile =
      speed::profile_of(speed::gpt_called(arguments[1]), speed::two_cores(), std::atof(arguments[2]));
  memory_speed() = profile.memory_speed;
  std::vector<Tensor> parameters;
  for (const std::int64_t size : profile.sizes) parameters.emplace_back(size);
  const Layout layout(parameters, std::atoll(arguments[3]), traffic.size());
  SimulatedStep step(traffic, layout, profile, std::atof(arguments[4]));
  step.run();  // all ranks begin at the same time only now
  const double start = MPI_Wtime();
  step.run();
  const double seconds = MPI_Wtime() - start;
  if (traffic.rank() == 0) std::printf("%.9g %.9g\n", profile.computing(), seconds);
  finish_mpi();
}

}  // namespace
}  // namespace gradus

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: simulate MODEL TOKENS BUCKET_BYTES POLL_SECONDS\n");
    return 2;
  }
  try {
    gradus::simulate(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulate: %s\n", error.what());
    return 1;
  }
}
