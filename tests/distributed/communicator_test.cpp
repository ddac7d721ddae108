// The calls of a Communicator between ranks as threads: their results, and what they say of mistakes.

#include "gradus/distributed/communicator.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "check_op.h"
#include "distributed/talk.h"
#include "gradus/distributed/detail/tree.h"
#include "gradus/distributed/threads.h"
#include "gradus/gradus.h"

namespace gradus::test {

using distributed::Communicator;
using distributed::run_threads;

namespace {

/// The message with which `ranks` ranks end.
std::string failure(int ranks, const std::function<void(const Communicator&)>& main) {
  try {
    run_threads(ranks, main);
  } catch (const Error& error) {
    return error.what();
  }
  return "no failure";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The message of rank 1, whose barrier rank 0 does not join.
std::string after_timeout(const std::function<void(const Communicator&)>& then) {
  std::atomic<bool> over = false;
  return failure(2, [&](const Communicator& world) {
    world.set_timeout(0.1);
    if (world.rank() == 0) {
      while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return;
    }
    try {
      then(world);
    } catch (...) {
      over = true;
      throw;
    }
  });
}

}  // namespace

TEST_CASE("communicator: every call, on any number of ranks") {
  for (const int ranks : {1, 2, 3, 4, 5, 8, 16}) {
    CAPTURE(ranks);
    CHECK_NOTHROW(run_threads(ranks, check_calls));
  }
  CHECK_NOTHROW(check_calls(Communicator()));
}

TEST_CASE("communicator: sums in pieces, also of unequal halves") {
  struct Pieces {
    explicit Pieces(std::int64_t bytes) { distributed::detail::set_piece_of_sums(bytes); }
    ~Pieces() { distributed::detail::set_piece_of_sums(1 << 20); }
  };
  for (const std::int64_t bytes : {1000, 65'536}) {
    const Pieces guard(bytes);
    for (const int ranks : {2, 8}) distributed::run_threads(ranks, test::check_calls);
  }
  const Pieces guard(40);  // ten numbers
  distributed::run_threads(4, [](const distributed::Communicator& world) {
    using namespace distributed::detail;
    for (const std::vector<std::int64_t>& cuts :
         {std::vector<std::int64_t>{10, 1500, 1990}, {1}, {2000}, {}, {500, 1000, 1500}}) {
      const Slices slices(2000, world.size(), cuts, false);
      const auto leaf = [](int rank) { return arange(2000, f32) * (rank + 0.1) + 1e4 * rank; };
      const Tensor x = leaf(world.rank());
      Traffic& traffic = world.traffic();
      TreeOperation sum(traffic, traffic.begin(Kind::all_reduce), x.array(), slices,
                        TreeOperation::sum_and_share);
      traffic.wait(sum);
      CHECK(x.to_vector<float>() == ((leaf(0) + leaf(1)) + (leaf(2) + leaf(3))).to_vector<float>());
    }
  });
}

TEST_CASE("communicator: sums of different sizes and dtypes are errors, also where pieces fit") {
  for (const std::int64_t other : {524'288, 524'289, 2'097'152})
    for (const int ranks : {2, 4})
      CHECK(has(failure(ranks,
                        [&](const Communicator& world) {
                          world.all_reduce(ones({world.rank() == ranks - 1 ? other : 1'048'576}));
                        }),
                "give all ranks the same shape and dtype"));
  CHECK(has(
      failure(2,
              [](const Communicator& world) { world.all_reduce(ones({4}, world.rank() == 0 ? f64 : i64)); }),
      "4 elements of"));
  CHECK(has(failure(2,
                    [](const Communicator& world) {
                      world.reduce_scatter(ones({2, world.rank() == 0 ? 300'000 : 600'000}));
                    }),
            "give all ranks the same shape and dtype"));
}

TEST_CASE("communicator: sums under way move on while something else is waited for") {
  for (const int ranks : {2, 4})
    run_threads(ranks, [](const Communicator& world) {
      const Tensor x = full({600'000}, world.rank() + 1.0), y = full({3}, 1.0);
      const double sum = world.size() * (world.size() + 1) / 2.0;
      std::vector<distributed::Work> works;
      works.push_back(world.all_reduce_async(x));
      works.push_back(world.all_reduce_async(y));
      if (world.rank() == 0) world.barrier();
      works[static_cast<std::size_t>(world.rank() % 2)].wait();  // in another order on each rank
      works[static_cast<std::size_t>(1 - world.rank() % 2)].wait();
      if (world.rank() != 0) world.barrier();
      CHECK((x == sum).all());
      CHECK((y == world.size()).all());
    });
  CHECK(has(failure(2,
                    [](const Communicator& world) {
                      std::vector<Tensor> tensors;
                      std::vector<distributed::Work> works;
                      for (int i = 0; i < 2100; ++i) {
                        tensors.push_back(ones({2}));
                        works.push_back(world.all_reduce_async(tensors.back()));
                      }
                      for (distributed::Work& work : works) work.wait();
                    }),
            "2048 calls after a sum that is still under way"));
}

TEST_CASE("communicator: a message whose Work is dropped is still sent") {
  run_threads(2, [](const Communicator& world) {
    const Tensor got = zeros({300'000});
    if (world.rank() == 0) {
      { const distributed::Work dropped = world.isend(full({300'000}, 7.0), 1); }
      const Tensor other = full({300'000}, 3.0);  // may take the memory of the first
      world.barrier();
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      world.recv(got, 0);
      CHECK((got == 7).all());
      world.barrier();
    }
  });
}

TEST_CASE("communicator: a rank that throws ends all") {
  for (const int culprit : {0, 2, 3}) {
    const std::string message = failure(4, [&](const Communicator& world) {
      world.barrier();
      check(world.rank() != culprit, "rank {} has had enough", culprit);
      world.all_reduce(ones({10}));
    });
    CHECK(message == "rank " + std::to_string(culprit) + " has had enough");
  }
}

TEST_CASE("communicator: different calls, sizes and ends are errors that say who did what") {
  CHECK(has(failure(4,
                    [](const Communicator& world) {
                      if (world.rank() == 2)
                        world.barrier();
                      else
                        world.all_reduce(ones({10}));
                    }),
            "in the collective call number 1 of each: every rank makes the same calls in the same order"));
  const std::string alone = failure(2, [](const Communicator& world) {
    if (world.rank() == 0) world.barrier();
  });
  CAPTURE(alone);
  // By the rank that sees it first.
  CHECK((has(alone, "rank 1 has ended its program") ||
         has(alone, "rank 1 is at the end of the program, but rank 0 at barrier")));
  CHECK(has(failure(2,
                    [](const Communicator& world) {
                      if (world.rank() == 0) world.recv(ones({1}), 1);
                    }),
            "send and recv: rank 0 waits for rank 1, which has ended its program"));
  const std::string longer =
      failure(2, [](const Communicator& world) { world.all_reduce(ones({10 + 2 * world.rank()})); });
  CHECK(has(longer, "give all ranks the same shape and dtype"));
  CHECK(has(failure(2,
                    [](const Communicator& world) {
                      if (world.rank() == 0)
                        world.send(ones({3}), 1);
                      else
                        world.recv(ones({4}), 0);
                    }),
            "send and recv: rank 1 expects 16 bytes from rank 0, which sent 12: give both the same shape and "
            "dtype"));
}

TEST_CASE("communicator: a timeout, and after an interrupted call there is no other") {
  CHECK(after_timeout([](const Communicator& world) { world.barrier(); }) ==
        "barrier: rank 1 has waited 0 s for rank 0: it hangs or computes for longer than the timeout; "
        "set_timeout() sets another");
  CHECK(after_timeout([](const Communicator& world) {
          CHECK_THROWS_AS(world.barrier(), Error);
          world.barrier();
        }) == "barrier: an error interrupted barrier, so the ranks no longer agree: end the program");
}

TEST_CASE("communicator: a slow rank is waited for") {
  CHECK_NOTHROW(run_threads(4, [](const Communicator& world) {
    if (world.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const Tensor x = ones({3});
    world.all_reduce(x);
    check(x[0].item() == 4, "wrong sum");
    if (world.rank() == 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(300));  // others wait at the end
  }));
}

TEST_CASE("communicator: what must be the same") {
  const std::string message = failure(4, [](const Communicator& world) {
    world.expect_same("The weights", "a");
    world.expect_same("The options",
                      world.rank() % 2 == 0 ? "--lr\n0.1\n--steps\n5" : "--lr\n0.2\n--steps\n5");
  });
  CHECK(message ==
        "The options must be the same on all ranks. Different from rank 0: rank 1, 3. Rank 1 has \"--lr 0.2 "
        "--steps 5\", rank 0 \"--lr 0.1 --steps 5\"");
  const std::string empty = failure(2, [](const Communicator& world) {
    world.expect_same("The text", world.rank() == 0 ? "" : std::string(1000, 'x') + "\t\x1b");
  });
  CHECK(has(empty, "Rank 1 has \"xxxx"));
  CHECK(has(empty, "...\", rank 0 \"\""));
}

TEST_CASE("communicator: errors of one rank") {
  const Communicator alone;
  check_error(
      [&] {
        alone.all_reduce(ones({2, 3}).t());
      },
      "all_reduce: expects a contiguous tensor, got [3, 2] with strides [1, 3]: pass x.contiguous()");
  check_error([&] { alone.all_reduce(Tensor()); }, "all_reduce: the tensor is undefined");
  check_error([&] { alone.all_reduce(ones({2}, boolean)); },
              "all_reduce: expects f32, f64 or i64, got bool [2]");
  check_error(
      [&] { alone.all_reduce(ones({2}).requires_grad_()); },
      "all_reduce: the tensor [2] requires grad, and would be changed in place: call it under NoGrad");
  check_error(
      [&] {
        alone.reduce_scatter(ones({2, 3}));
      },
      "reduce_scatter: expects x [1, ...], a row for each rank, got [2, 3]");
  check_error([&] { alone.broadcast(ones({1}), 1); }, "broadcast: expects a rank from 0 to 0, got 1");
  check_error([&] { alone.send(ones({1}), 0); }, "send: rank 0 cannot send to itself");
  check_error([&] { alone.recv(ones({1}), 0, 2048); }, "recv: expects a tag from 0 to 2047, got 2048");
  check_error([&] { alone.set_timeout(0); }, "set_timeout: expects more than 0 seconds, got 0");
  CHECK(has(failure(3, [](const Communicator& world) { world.all_reduce(ones({1})); }),
            "all_reduce: expects 1, 2, 4, 8, ... ranks, got 3: sums are made in a binary tree"));
  check_error([] { run_threads(0, [](const Communicator&) {}); },
              "run_threads: expects 1 to 1024 ranks, got 0");
}

}  // namespace gradus::test
