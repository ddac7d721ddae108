// A tape that uses all memory of a process (ulimit -v): once it is dropped, training continues.

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

#include "gradus/core/detail/units.h"
#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/ops.h"
#include "in_child.h"
#include "memory_limit.h"
#include "support.h"
#include "train_gpt.h"

// The sanitizers' own tables do not fit.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace gradus::test {
namespace {

constexpr std::size_t kRoom = 300 * MiB;
constexpr std::int64_t kMostlyNodes = 200 * MiB;

/// Its arrays are of all kinds: small, on shared and on own huge pages.
double train() {
  return train_gpt({.vocab = 65, .context = 64, .layers = 2, .block = {.d_model = 128, .heads = 4}}, 16);
}

/// Sets y to times(y) until there is no memory left. The memory that nodes held then; none where the error
/// does not say so, with that figure.
template <class Times>
std::optional<std::int64_t> exhaust(Tensor& y, Times times) {
  static char text[600];  // the tape is alive: a string might find no memory
  try {
    for (;;) y = times(y);
  } catch (const Error& error) {
    std::snprintf(text, sizeof text, "%s", error.what());
  }
  const std::int64_t nodes = memory_stats().node_bytes;
  y = Tensor();
  const std::string message = text, figure = human_bytes(static_cast<double>(nodes));
  const bool by_array = message.starts_with("storage: ");
  if (by_array ? !message.ends_with(": the system is out of memory")
               : !message.starts_with("out of memory: "))
    return {};
  if (message.find((by_array ? ", nodes " : "the tape's nodes ") + figure + ",") == message.npos) return {};
  return nodes;
}

/// With a tape of nodes and arrays of `numel` numbers.
std::optional<std::int64_t> exhaust(std::int64_t numel) {
  const Tensor w = ones({numel}).requires_grad_();
  Tensor y = w;
  return exhaust(y, [&](const Tensor& x) { return x * w; });
}

}  // namespace

TEST_CASE("out of memory: if nodes use all memory, the message says how much") {
  const SingleThread alone;
  CHECK(in_child([] {
          Tensor y = ones({4}).requires_grad_();
          if (!limit_memory(kRoom)) return 2;
          const auto nodes = exhaust(y, [](const Tensor& x) { return x * 1.5; });  // keeps no array
          return !nodes ? 3 : *nodes < kMostlyNodes ? 4 : 0;
        }) == 0);
}

TEST_CASE("out of memory: after a tape that used all memory, a GPT trains as before") {
  const SingleThread alone;
  const double loss = train();
  for (const std::int64_t numel : {4, 2'000, 20'000, 100'000, 1'000'000}) {
    CAPTURE(numel);
    CHECK(in_child([&] {
            if (!limit_memory(kRoom)) return 2;
            if (!exhaust(numel)) return 3;
            if (train() != loss) return 4;
            return exhaust(numel) && train() == loss ? 0 : 5;
          }) == 0);
  }
}

TEST_CASE("out of memory: the same on a thread, and after it on the main thread") {
  const SingleThread alone;
  const double loss = train();
  for (const std::int64_t numel : {4, 2'000, 20'000, 100'000, 1'000'000}) {
    CAPTURE(numel);
    CHECK(in_child([&] {
            int status = 2;
            std::thread([&] {
              const SingleThread alone_there;
              if (!limit_memory(kRoom)) return;
              try {
                status = !exhaust(numel) ? 3 : train() != loss ? 4 : 0;
              } catch (const Error&) {
                status = 6;
              }
            }).join();
            return status == 0 && train() != loss ? 5 : status;
          }) == 0);
  }
}

TEST_CASE("out of memory: a tape that one thread builds and another drops") {
  const SingleThread alone;
  const double loss = train();
  for (const std::int64_t numel : {4, 20'000}) {
    CAPTURE(numel);
    CHECK(in_child([&] {
            Tensor y;
            int status = 2;
            std::thread([&] {
              y = ones({numel}).requires_grad_();
              if (!limit_memory(kRoom)) return;
              try {
                for (;;) y = y * 1.5;
              } catch (const Error&) {
                status = 0;
              }
            }).join();
            if (status == 0 && memory_stats().node_bytes < kMostlyNodes) status = 3;
            y = Tensor();
            return status == 0 && train() != loss ? 4 : status;
          }) == 0);
  }
}

TEST_CASE("child: a GPT whose first step comes after a tape that took all memory" * doctest::skip()) {
  const SingleThread alone;
  for (const std::int64_t numel : {20'000, 4})
    if (!limit_memory(kRoom) || !exhaust(numel)) std::printf("<<not refused>>\n");
  std::printf("<<%.9g>>\n", train());
}

TEST_CASE("out of memory: a GPT also trains if the tape came first") {
  const SingleThread alone;
  char expected[40];
  std::snprintf(expected, sizeof expected, "<<%.9g>>\n", train());
  const std::string output = output_of_child("", "child: a GPT whose first step*");
  INFO(output);
  CHECK(output.find(expected) != std::string::npos);
  CHECK(output.find("not refused") == std::string::npos);
}

}  // namespace gradus::test

#endif
