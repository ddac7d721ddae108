// Out of memory: the cache is freed first, then the failure is an Error, and nothing is lost.

#include <doctest/doctest.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "failing_new.h"
#include "gradus/core/detail/units.h"
#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/profile/profile.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/scope.h"
#include "gradus/core/tensor.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/ops.h"
#include "in_child.h"
#include "memory_limit.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

constexpr const char* kRemedy =
    ", and nothing is cached that could be given back: "
    "work with smaller arrays or batches, drop tensors whose tape nobody needs, "
    "or raise the limit on this process (ulimit -v)";

}  // namespace

#ifndef __SANITIZE_THREAD__  // whose allocator ends the program instead
static std::string message_of_vector(std::size_t bytes) {
  try {
    const std::vector<char> vector(bytes);
    return vector[bytes / 2] == 0 ? "no error" : "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_CASE("out of memory: operator new gets the cache's memory, then throws Error") {
  CHECK(in_child([] {
          { const Storage cached = Storage::allocate(512 * MiB); }
          bool good = limit_memory(32 * MiB) && message_of_vector(400 * MiB) == "no error";
          good = good && memory_stats().cached_bytes == 0;
          const std::string message = message_of_vector(2048 * MiB);
          good = good && message.starts_with("out of memory: the system gives no more; arrays hold ") &&
                 message.ends_with(kRemedy);
          good = good && ::operator new(2048 * MiB, std::nothrow) == nullptr;
          return good && ones({1000}).sum().item() == 1000;
        }) == 0);
}
#endif

TEST_CASE("out of memory: many small blocks in the cache serve a large array") {
  CHECK(in_child([] {
          {
            std::vector<Storage> blocks;
            for (int i = 0; i < 200; ++i) blocks.push_back(Storage::allocate(2 * MiB));
            for (int i = 0; i < 400; ++i) blocks.push_back(Storage::allocate(500'000));
          }
          return limit_memory(32 * MiB) && Storage::allocate(500 * MiB) && memory_stats().cached_bytes == 0;
        }) == 0);
}

// In a separate process: otherwise malloc may have memory left from other tests.
TEST_CASE("child: products under limits of memory" * doctest::skip()) {
  const SingleThread alone;
  for (const auto& [rows, columns] : {std::pair(512, 128), {1024, 64}}) {  // on shared and on own huge pages
    const Tensor x = ones({rows, columns});
    matmul(x, x.transpose(
                  0, 1));  // the stack grows: under the limit it could not, and the system ends the program
    int right = 0, errors = 0;
    for (std::size_t room = 1; room < 120 * MiB; room += MiB) {
      empty_cache();
      REQUIRE(limit_memory(room));
      try {
        const double sum = (matmul(x, x.transpose(0, 1)) * 2 + 1).sum().item();
        right += sum == rows * rows * (2 * columns + 1);
      } catch (const Error&) {
        ++errors;
      }
      limit_memory();
    }
    if (right > 10 && errors > 0 && right + errors == 120) std::printf("<<good>>");
  }
}

TEST_CASE("out of memory: at any limit of memory, an op throws Error or is correct") {
  CHECK(output_of_child("", "child: products under limits*").find("<<good>><<good>>") != std::string::npos);
}

TEST_CASE("out of memory: the message needs no memory") {
  { const Storage first = Storage::allocate(1); }
  const char* const scope = intern("some.module");
  const auto message = [&](bool for_good, bool recorded) -> std::string {
    empty_cache();
    char text[600] = "no error";  // a string would take memory
    set_error_backtrace(recorded);
    {
      const Scope inside(scope);
      const FailingNew armed(0, for_good);
      try {
        take_and_give_back();
      } catch (const Error& error) {
        std::snprintf(text, sizeof text, "%s", error.what());
      }
    }
    set_error_backtrace(false);
    return text;
  };
  const std::string nodes = "the tape's nodes " + human_bytes(double(memory_stats().node_bytes));
  for (const bool recorded : {false, true})
    for (const bool for_good : {false, true}) {
      const std::string text = message(for_good, recorded);
      CAPTURE(text);
      CHECK(text.find(nodes) != text.npos);
      CHECK(text.ends_with(kRemedy + std::string(" (in some.module)")));
    }
}

TEST_CASE("out of memory: errors that are kept keep their messages") {
  { const Storage first = Storage::allocate(1); }
  constexpr int kept = 20;
  const auto text_of = [](const std::exception_ptr& error) -> std::string {
    try {
      std::rethrow_exception(error);
    } catch (const Error& thrown) {
      return thrown.what();
    }
  };
  for (int round = 0; round < 2; ++round) {  // what the first one took is free again
    const Storage array = Storage::allocate(round == 0 ? 1 : 50 << 20);
    std::exception_ptr errors[kept];
    for (std::exception_ptr& error : errors) {
      empty_cache();
      const FailingNew armed(0, /*for_good=*/true);
      try {
        take_and_give_back();
      } catch (const Error&) {
        error = std::current_exception();
      }
    }
    const std::string first = text_of(errors[0]);
    CHECK(first.starts_with("out of memory: the system gives no more; arrays hold "));
    CHECK(first.ends_with(kRemedy));
    CHECK(text_of(errors[1]) == first);
    CHECK(text_of(errors[kept - 1]) == "out of memory: work with smaller arrays or batches");
  }
}

TEST_CASE("out of memory: operator new gets the cache's memory before an error is made") {
  { const Storage first = Storage::allocate(1); }
  { const Storage cached = Storage::allocate(1000); }
  {
    const FailingNew armed(0, false);
    take_and_give_back();
    CHECK(armed.struck());
  }
  CHECK(memory_stats().cached_bytes == 0);
}

TEST_CASE("out of memory: any allocation of creation, views, ops and to_vector may fail") {
  const auto with_every_allocation = [](const std::function<void()>& f) {
    CHECK(with_every_allocation_failing([] { empty_cache(); }, f) > 0);
    CHECK(with_every_allocation_failing(
              [] {
                { const Storage cached = Storage::allocate(1000); }
              },
              f) > 0);
    f();
  };
  with_every_allocation([] {
    const Tensor x = tensor({{1, 2}, {3, 4}}), y = from_vector<float>({1, 2, 3, 4}, {2, 2}), z = arange(10);
    must(cat({x.to(f32), y}).to_vector<float>() == std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4});
    must(split(z, 3).size() == 4);
    must(to_string(z).size() > 10);
  });
  with_every_allocation([] {
    Tensor x = ones({20, 30});
    x.requires_grad_();
    x.on_grad([](const Array&) {});
    const Tensor y = softmax(matmul(x, x.transpose(0, 1)) + 1, -1);
    cross_entropy(y, zeros({20}, i64)).backward();
    must(x.grad().defined());
  });
  int count = 0;
  with_every_allocation([&] { must(*intern("name " + std::to_string(++count) + std::string(50, '.'))); });
}

TEST_CASE("out of memory: any allocation of a Profile may fail") {
  const auto run = [] {
    const Profile profile;
    {
      const ProfileRange range("outer");
      const Scope scope(intern("some.module"));
      Tensor x = ones({20, 30});
      x.requires_grad_();
      const ProfileRange inner("inner");
      (x * 2).sum().backward();
    }
    must(profile.table().size() > 100);
    must(profile.memory_table().size() > 100);
  };
  CHECK(with_every_allocation_failing([] { empty_cache(); }, run) > 0);
  CHECK(*current_scope() == '\0');
  run();
}

TEST_CASE("out of memory: the program's own handler may free arrays, also while a Profile runs") {
  static Tensor spare;
  const std::new_handler before = std::set_new_handler([] {
    if (!spare.defined()) throw std::bad_alloc();
    spare = Tensor();
  });
  int asked = 0;
  for (int n = 0; n < 200; ++n) {
    const Profile profile;
    spare = ones({1000});
    const FailingNew armed(n, /*for_good=*/false);
    Tensor x = ones({20, 30});
    x.requires_grad_();
    (x * 2).sum().backward();
    must(profile.entries().size() > 1);
    asked += !spare.defined();
  }
  std::set_new_handler(before);
  CHECK(asked > 20);
}
