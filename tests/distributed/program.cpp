// The tests of ranks as processes of MPI: started by check_mpi.sh and check_failures.sh.
//   program train THREADS STEPS    the hashes of all training cases, from rank 0
//   program calls PIECE            every call of a communicator, with messages cut into pieces of PIECE bytes
//   program fail HOW RANK          the rank fails in one of several ways in the middle of a training
//   program resume FOLDER STEPS    a training that goes on from the folder's checkpoint; its hashes
//   program option TEXT            the text may differ from rank to rank, and must not
//   program memory MIB             losses of a GPT in stages, in processes that may grow by so many MiB (0:
//   any)
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "distributed/cases.h"
#include "distributed/talk.h"
#include "gradus/distributed/detail/mpi.h"
#include "gradus/distributed/detail/tree.h"
#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"
#include "memory_limit.h"

using namespace gradus;

namespace {

void train(const distributed::Communicator& world, int threads, int steps) {
  set_num_threads(threads);
  for (const std::string& name : test::training_cases()) {
    const test::TrainingHashes hashes = test::train_case(name, world, steps);
    if (world.rank() == 0)
      std::printf("%s: weights %s optimizer %s losses %s\n", name.c_str(), hashes.weights.c_str(),
                  hashes.optimizer.c_str(), hashes.losses.c_str());
  }
}

/// The stage of one rank takes other activations than the one before it sends.
int fail_between_stages(const distributed::Communicator& world, int rank) {
  distributed::PipelineModel model{
      .layers = {}, .loss = [](const Tensor& y, const Tensor& targets) { return mse_loss(y, targets); }};
  for (int i = 0; i < world.size(); ++i)
    model.layers.push_back({std::to_string(i), [i, rank] { return nn::Linear(i == rank ? 5 : 4, 4); }});
  distributed::Pipeline pipeline(world, model);
  for (;;) pipeline.backward(ones({16, 4}), ones({16, 4}));
}

/// A training without an end, in whose third step the rank fails.
int fail(const distributed::Communicator& world, const std::string& how, int rank) {
  const nn::Linear model(300, 300);
  distributed::DataParallel parallel(world, model,
                                     {.bucket_bytes = how == "bucket" ? 1 << (20 + world.rank()) : 1 << 20});
  const Tensor x = ones({8, 300});
  for (int step = 1;; ++step) {
    if (step == 3 && world.rank() == rank) {
      if (how == "throw") fail_with("step {} of rank {} failed", step, rank);
      if (how == "kill") std::raise(SIGKILL);
      if (how == "abort") std::abort();
      if (how == "exit") std::exit(0);
      if (how == "return") return 0;
      if (how == "terminate") std::thread([] { throw std::runtime_error("a thread failed"); }).join();
      if (how == "call") world.barrier();
      if (how == "shape") world.all_reduce(ones({5}));
      if (how == "batch")
        parallel.backward(
            7, [&](const distributed::Shard& shard) { return model(shard(x.slice(0, 0, 7))).sum(); });
      if (how == "hang") {
        for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
      }
    }
    if (how == "hang") world.set_timeout(1);
    parallel.backward(8, [&](const distributed::Shard& shard) {
      if (how == "inside" && step == 3 && shard.index == 2 * rank + 1)
        fail_with("shard {} failed", shard.index);
      return model(shard(x)).sum();
    });
    model.zero_grad();
  }
}

/// 4 steps of 8.8 million parameters: weights, gradients and Adam's two averages are 135 MiB.
void train_within(const distributed::Communicator& world, std::size_t mib) {
  if (mib > 0 && !test::limit_memory(mib * test::MiB)) fail_with("the memory cannot be limited");
  distributed::Pipeline pipeline(
      world,
      distributed::gpt_layers(
          {.vocab = 600, .context = 16, .layers = 7, .block = {.d_model = 320, .heads = 4, .dropout = 0.1}}),
      {.micro_batches = 4, .seed = 1});
  optim::AdamW opt(pipeline.stage().parameters(), {.lr = 1e-3});
  Generator data(2);
  for (int step = 1; step <= 4; ++step) {
    const Tensor text(random_integers({8, 17}, 0, 600, data));
    opt.zero_grad();
    const double loss = pipeline.backward(text.slice(1, 0, 16), text.slice(1, 1));
    const double norm = pipeline.clip_grad_norm(1.0);
    opt.step();
    if (world.rank() == 0) std::printf("step %d: loss %.17g norm %.17g\n", step, loss, norm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  distributed::Session session(argc, argv);
  const std::string what = argc > 2 ? argv[1] : "";
  return session.run([&](const distributed::Communicator& world) -> int {
    if (what == "train" && argc == 4) {
      train(world, std::atoi(argv[2]), std::atoi(argv[3]));
    } else if (what == "calls") {
      distributed::detail::set_mpi_piece(static_cast<std::size_t>(std::atoi(argv[2])));
      distributed::detail::set_piece_of_sums(std::atoi(argv[2]));
      test::check_calls(world);
      if (world.rank() == 0) std::printf("%d ranks: all calls are right\n", world.size());
    } else if (what == "fail" && argc == 4 && std::string(argv[2]) == "stage") {
      return fail_between_stages(world, std::atoi(argv[3]));
    } else if (what == "fail" && argc == 4) {
      return fail(world, argv[2], std::atoi(argv[3]));
    } else if (what == "resume" && argc == 4) {
      const std::string hashes = test::resumable_training(world, argv[2], std::atoi(argv[3]), 5);
      if (world.rank() == 0) std::printf("%s\n", hashes.c_str());
    } else if (what == "option") {
      world.barrier();
    } else if (what == "memory") {
      train_within(world, static_cast<std::size_t>(std::atoi(argv[2])));
    } else {
      fail_input("program: expects train, calls, fail, resume, option or memory");
    }
    return 0;
  });
}
