// A tape that takes all the memory a process may have (ulimit -v): once it is dropped, training goes on.

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/random/random.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "in_child.h"
#include "memory_limit.h"
#include "support.h"

// The sanitizers' own tables do not fit.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace gradus::test {
namespace {

/// The loss of a second step; its arrays are of all kinds: small, on shared and on own huge pages.
double train_gpt() {
  manual_seed(0);
  const nn::GPT gpt({.vocab = 65, .context = 64, .layers = 2, .block = {.d_model = 128, .heads = 4}});
  optim::AdamW optimizer(gpt.parameters(), {.lr = 0.01});
  const Tensor text = randint(0, 65, {16, 65}), ids = text.slice(1, 0, 64), next = text.slice(1, 1);
  double last = 0;
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    const Tensor loss = gpt.loss(ids, next);
    loss.backward();
    optimizer.step();
    last = loss.item();
  }
  return last;
}

/// Records products of `numel` numbers until there is no memory left; the message.
std::string exhaust(std::int64_t numel) {
  const Tensor w = ones({numel}).requires_grad_();
  Tensor y = w;
  try {
    for (;;) y = y * w;
  } catch (const Error& error) {
    return error.what();
  }
}

bool says_so(const std::string& message) {
  return message.starts_with("out of memory: ") || message.ends_with(": the system is out of memory");
}

constexpr std::size_t kRoom = 300 * MiB;

}  // namespace

TEST_CASE("out of memory: after a tape that took all memory, a GPT trains as before") {
  const SingleThread alone;
  const double loss = train_gpt();
  for (const std::int64_t numel : {4, 2'000, 20'000, 100'000, 1'000'000}) {
    CAPTURE(numel);
    CHECK(in_child([&] {
            if (!limit_memory(kRoom)) return 2;
            if (!says_so(exhaust(numel))) return 3;
            if (train_gpt() != loss) return 4;
            return says_so(exhaust(numel)) && train_gpt() == loss ? 0 : 5;
          }) == 0);
  }
}

TEST_CASE("out of memory: the same on a thread, and after it on the main thread") {
  const SingleThread alone;
  const double loss = train_gpt();
  for (const std::int64_t numel : {4, 2'000, 20'000, 100'000, 1'000'000}) {
    CAPTURE(numel);
    CHECK(in_child([&] {
            int status = 2;
            std::thread([&] {
              const SingleThread alone_there;
              if (!limit_memory(kRoom)) return;
              try {
                status = !says_so(exhaust(numel)) ? 3 : train_gpt() != loss ? 4 : 0;
              } catch (const Error&) {
                status = 6;
              }
            }).join();
            return status == 0 && train_gpt() != loss ? 5 : status;
          }) == 0);
  }
}

TEST_CASE("out of memory: a tape that one thread builds and another drops") {
  const SingleThread alone;
  const double loss = train_gpt();
  for (const std::int64_t numel : {4, 20'000}) {
    CAPTURE(numel);
    CHECK(in_child([&] {
            Tensor y;
            std::thread([&] {
              y = ones({numel}).requires_grad_();
              if (!limit_memory(kRoom)) return;
              try {
                for (;;) y = y * 1.5;
              } catch (const Error&) {
              }
            }).join();
            y = Tensor();
            return train_gpt() == loss;
          }) == 0);
  }
}

TEST_CASE("child: a GPT whose first step comes after a tape that took all memory" * doctest::skip()) {
  const SingleThread alone;
  for (const std::int64_t numel : {20'000, 4})
    if (!limit_memory(kRoom) || !says_so(exhaust(numel))) std::printf("<<not refused>>\n");
  std::printf("<<%.9g>>\n", train_gpt());
}

TEST_CASE("out of memory: where the tape came first, a GPT trains as well") {
  const SingleThread alone;
  char expected[40];
  std::snprintf(expected, sizeof expected, "<<%.9g>>\n", train_gpt());
  const std::string output = output_of_child("", "child: a GPT whose first step*");
  INFO(output);
  CHECK(output.find(expected) != std::string::npos);
  CHECK(output.find("not refused") == std::string::npos);
}

}  // namespace gradus::test

#endif
