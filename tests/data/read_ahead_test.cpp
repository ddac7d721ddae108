// A thread that prepares batches: the same bits, errors at the right batch, and it always ends.

#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "data/batches.h"
#include "in_child.h"
#include "threads_guard.h"

namespace gradus::test {
namespace {

using data::DataLoader;

TEST_CASE("read_ahead: the same bits for any random numbers of a function and any number of threads") {
  const Tensor x = randn({23, 300});
  const auto run = [&](std::int64_t ahead, int threads) {
    const ThreadsGuard guard(threads);
    manual_seed(5);
    DataLoader loader(23,
                      [&](std::int64_t i, Generator& g) {
                        return std::array{x[i] + rand({300}, g), softmax(x[i] * randn({300}), -1),
                                          ones({2}) * default_generator().uniform()};
                      },
                      {.batch_size = 4, .shuffle = true, .read_ahead = ahead});
    std::vector<std::array<Tensor, 3>> all;
    for (int epoch = 0; epoch < 2; ++epoch)
      for (const auto& batch : loader) all.push_back(batch);
    return all;
  };
  const auto expected = run(0, 1);
  CHECK(!equal(expected[0][0], expected[6][0]));
  for (const std::int64_t ahead : {0, 1, 2, 7, 1024})
    for (const int threads : {1, 3}) CHECK(same(run(ahead, threads), expected));
}

TEST_CASE("read_ahead: a function's random numbers depend on the item and the epoch, not on earlier ones") {
  const auto draws = [](std::int64_t batch_size) {
    DataLoader loader(6, [](std::int64_t) { return rand({}); },
                      {.batch_size = batch_size, .generator = Generator(2)});
    std::vector<double> result;
    for (int epoch = 0; epoch < 2; ++epoch)
      for (const auto& [x] : loader)
        for (const double value : x.to_vector<double>()) result.push_back(value);
    return result;
  };
  const auto one = draws(1);
  CHECK(one == draws(4));
  for (std::size_t i = 1; i < one.size(); ++i) CHECK(one[i] != one[0]);
  // The program's own random numbers do not change.
  manual_seed(1);
  DataLoader loader(6, [](std::int64_t) { return manual_seed(9), rand({}); });
  const Generator::State before = default_generator().state();
  (void)loop(loader);
  CHECK(default_generator().state() == before);
}

TEST_CASE("read_ahead: the default dtype is that at the loader's construction, and there is no tape") {
  const Tensor w = ones({2}).requires_grad_();
  const auto make = [&](std::int64_t ahead) {
    const DefaultDType guard(f64);
    return DataLoader(3, [&](std::int64_t) { return std::array{ones({2}), w * 2}; }, {.read_ahead = ahead});
  };
  for (const std::int64_t ahead : {0, 2}) {
    auto loader = make(ahead);
    for (const auto& [x, y] : loader) {
      CHECK(x.dtype() == f64);
      CHECK(y.dtype() == f32);
      CHECK(!y.requires_grad());
    }
    CHECK(default_dtype() == f32);
  }
}

TEST_CASE("read_ahead: Autocast is that at the loader's construction") {
  const Tensor x = rand({4, 8}), w = rand({8, 3});
  const auto loader_of = [&](DType products, std::int64_t ahead) {
    const Autocast guard(products);
    return DataLoader(4, [&](std::int64_t i) { return matmul(x.select(0, i), w); }, {.read_ahead = ahead});
  };
  for (const std::int64_t ahead : {0, 2}) {
    CAPTURE(ahead);
    auto in_f32 = loader_of(f32, ahead), in_bf16 = loader_of(bf16, ahead);
    const Tensor product = in_bf16.next()[0];
    CHECK_FALSE(equal(product, in_f32.next()[0]));
    const Autocast guard(bf16);
    CHECK(equal(product, matmul(x.select(0, 0), w).unsqueeze(0)));
  }
}

TEST_CASE("read_ahead: an exception is thrown at its batch, from any position") {
  for (const std::int64_t ahead : {0, 1, 2, 100})
    for (std::int64_t bad = 0; bad < 7; ++bad) {
      bool mend = false;
      DataLoader loader(14,
                        [&](std::int64_t i) {
                          if (i / 2 == bad && !mend) throw std::out_of_range("item " + std::to_string(i));
                          return tensor(i);
                        },
                        {.batch_size = 2, .read_ahead = ahead});
      std::vector<std::int64_t> got;
      std::string said;
      try {
        for (const auto& [ids] : loader) got.push_back(ids[1].item<std::int64_t>());
      } catch (const std::out_of_range& error) {
        said = error.what();
      }
      CHECK(said == "item " + std::to_string(2 * bad));
      CHECK(static_cast<std::int64_t>(got.size()) == bad);
      CHECK(loader.epoch() == 0);
      CHECK(loader.state_dict().at("handed_out").item<std::int64_t>() == bad);
      // The batch has not been handed out: next() tries again.
      CHECK_THROWS_AS(loader.next(), std::out_of_range);
      mend = true;
      CHECK(loader.next()[0][0].item<std::int64_t>() == 2 * bad);
    }
}

TEST_CASE("read_ahead: a loop may be left at any position and in any way") {
  for (const std::int64_t ahead : {1, 2, 100})
    for (int stop = 1; stop <= 5; ++stop) {
      DataLoader loader(10, [](std::int64_t i) { return full({100}, i); },
                        {.batch_size = 2, .read_ahead = ahead});
      const auto breaks = [&] {
        int batch = 0;
        for (const auto& [x] : loader)
          if (++batch == stop) return x[0][0].item<std::int64_t>();
        return std::int64_t{-1};
      };
      CHECK(breaks() == 2 * (stop - 1));
      CHECK_THROWS_AS(
          [&] {
            int batch = 0;
            for (const auto& got : loader)
              if (got[0].numel() > 0 && ++batch == stop) throw std::runtime_error("enough");
          }(),
          std::runtime_error);
      for (int i = 0; i < stop; ++i) (void)loader.next();  // destroys the loader while its thread works
    }
}

TEST_CASE("read_ahead: at most read_ahead batches are made in advance") {
  std::atomic<int> made = 0;
  DataLoader loader(20, [&](std::int64_t i) { return ++made, tensor(i); },
                    {.batch_size = 2, .read_ahead = 3});
  int taken = 0;
  for (const auto& batch : loader) {
    (void)batch;
    ++taken;
    CHECK(made <= 2 * (taken + 3));
    if (taken == 2)
      while (made < 2 * (taken + 3)) std::this_thread::yield();  // it does work ahead
    if (taken == 5) break;
  }
  const int before = made;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(made == before);  // and is gone when the loop is left
}

TEST_CASE("read_ahead: the function runs on one thread of the loader's, items in order") {
  std::vector<std::int64_t> order;
  std::vector<std::thread::id> threads;
  DataLoader loader(9,
                    [&](std::int64_t i) {
                      return order.push_back(i), threads.push_back(std::this_thread::get_id()), tensor(i);
                    },
                    {.batch_size = 2, .read_ahead = 2});
  (void)loop(loader);
  CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  for (const std::thread::id id : threads) CHECK((id == threads[0] && id != std::this_thread::get_id()));
}

TEST_CASE("read_ahead: loaders side by side, nested, and inside a function of another") {
  const auto run = [](std::int64_t ahead) {
    manual_seed(3);
    DataLoader a({arange(12)}, {.batch_size = 5, .shuffle = true, .read_ahead = ahead});
    DataLoader inner({arange(6.0)}, {.batch_size = 2, .shuffle = true, .read_ahead = ahead});
    DataLoader b(4,
                 [&](std::int64_t i) {
                   Tensor sum = rand({2}) + i;
                   for (const auto& [x] : inner) sum = sum + x;
                   DataLoader own({arange(6.0)}, {.batch_size = 2, .shuffle = true, .read_ahead = ahead});
                   return sum * 10 + own.next()[0];
                 },
                 {.batch_size = 2, .read_ahead = ahead});
    std::vector<std::array<Tensor, 2>> all;
    for (const auto& [x] : a)
      for (const auto& [y] : b) all.push_back({x, y});
    return all;
  };
  CHECK(same(run(2), run(0)));
}

TEST_CASE("read_ahead: works while the program computes on all its threads") {
  const ThreadsGuard guard(3);
  const Tensor w = randn({300, 300});
  const auto run = [&](std::int64_t ahead) {
    manual_seed(0);
    DataLoader loader(12, [&](std::int64_t i) { return matmul(w, w.slice(1, i, i + 40)); },
                      {.batch_size = 3, .shuffle = true, .read_ahead = ahead});
    std::vector<std::array<Tensor, 1>> all;
    for (const auto& [x] : loader) all.push_back({matmul(w, x)});
    return all;
  };
  const auto expected = run(0);
  for (int i = 0; i < 3; ++i) CHECK(same(run(2), expected));
}

TEST_CASE("read_ahead: the pool is left to the program") {
  const ThreadsGuard guard(3);
  const auto threads_of = [](std::int64_t ahead) {
    DataLoader loader(1,
                      [](std::int64_t) {
                        std::atomic<int> others = 0;
                        const std::thread::id own = std::this_thread::get_id();
                        const auto work = [&](std::int64_t, std::int64_t) {
                          others += std::this_thread::get_id() != own;
                          std::this_thread::sleep_for(std::chrono::microseconds(200));
                        };
                        parallel_for(300, 1, work, Wake::at_once);
                        return tensor(others.load());
                      },
                      {.read_ahead = ahead});
    return loader.next()[0].item();
  };
  CHECK(threads_of(0) > 0);
  CHECK(threads_of(1) == 0);
}

TEST_CASE("read_ahead: leaving a loop waits for an item, not for a batch") {
  constexpr std::int64_t kBatch = 50000;
  std::atomic<std::int64_t> made = 0;
  DataLoader loader(2 * kBatch,
                    [&](std::int64_t i) {
                      if (++made > kBatch) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                      return tensor(i);
                    },
                    {.batch_size = kBatch, .read_ahead = 1});
  for (const auto& batch : loader) {
    CHECK(batch[0].size(0) == kBatch);
    while (made <= kBatch) std::this_thread::yield();
    break;
  }
  CHECK(made < 2 * kBatch);
}

/// For one scope threads ask for a stack that no system has.
struct NoThreads {
  NoThreads() {
    pthread_getattr_default_np(&before);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 48);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before);
    pthread_attr_destroy(&before);
  }
  pthread_attr_t before;
};

TEST_CASE("read_ahead: if no thread can be started, the program makes the batches") {
  const NoThreads guard;
  CHECK_THROWS_AS(std::thread([] {}), std::system_error);
  std::thread::id worker;
  DataLoader loader(5, [&](std::int64_t i) { return worker = std::this_thread::get_id(), tensor(i); },
                    {.batch_size = 2, .read_ahead = 2});
  CHECK(ids_of(loop(loader)) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(worker == std::this_thread::get_id());
}

#ifndef __SANITIZE_THREAD__  // which cannot start threads in a forked child

TEST_CASE("read_ahead: a forked child continues with the same batches, and so does its own child") {
  DataLoader loader(12, [](std::int64_t i, Generator& g) { return rand({3}, g) + i; },
                    {.batch_size = 2, .shuffle = true, .generator = Generator(1), .read_ahead = 3});
  const StateDict begin = loader.state_dict();
  const auto expected = [&] {
    std::vector<std::array<Tensor, 1>> all;
    for (int i = 0; i < 9; ++i) all.push_back(loader.next());
    return all;
  }();
  const auto goes_on = [&](std::size_t taken) {
    for (std::size_t i = taken; i < expected.size(); ++i)
      if (!equal(loader.next()[0], expected[i][0])) return false;
    return true;
  };
  loader.load_state_dict(begin);
  for (int i = 0; i < 2; ++i) (void)loader.next();
  CHECK(in_child([&] {
          (void)loader.next();
          return in_child([&] { return goes_on(3); }) == 0 && goes_on(3);
        }) == 0);
  CHECK(in_child([&] {
          int batches = 0;
          for (const auto& batch : loader) batches += batch[0].size(0) == 2;
          return batches == 6;  // of the next epoch
        }) == 0);
  CHECK(goes_on(2));  // the parent has its thread
}

TEST_CASE("read_ahead: a forked child can destroy loaders that it does not use") {
  for (const bool moved : {false, true}) {
    DataLoader a(50, [](std::int64_t i) { return tensor(i); }, {.read_ahead = 4});
    auto b = std::make_unique<DataLoader<1>>(
        50, [](std::int64_t i) { return tensor(i); }, data::DataLoaderOptions{.read_ahead = 4});
    (void)a.next(), (void)b->next();
    CHECK(in_child([&] {
            if (moved) a = std::move(*b);
            b.reset();
            a.load_state_dict(a.state_dict());
            return a.next()[0].item<std::int64_t>() == 1;
          }) == 0);
  }
  // Left in the middle of a loop.
  DataLoader loader(50, [](std::int64_t i) { return tensor(i); }, {.read_ahead = 4});
  for (const auto& batch : loader) {
    if (batch[0].item<std::int64_t>() < 3) continue;
    CHECK(in_child([&] {
            DataLoader<1> last = std::move(loader);
            return last.next()[0].item<std::int64_t>() == 4;
          }) == 0);
    break;
  }
}

// GCC 12's AddressSanitizer does not take its allocator's locks before fork(): a child forked while another
// thread allocates hangs now and then.
#ifndef __SANITIZE_ADDRESS__
TEST_CASE("read_ahead: children forked while threads of loaders hold their locks") {
  std::vector<DataLoader<1>> loaders;
  for (int i = 0; i < 3; ++i)
    loaders.emplace_back(
        1'000'000, [](std::int64_t n) { return tensor(n); },
        data::DataLoaderOptions{.read_ahead = 1 + 100 * i});
  int good = 0;
  for (std::int64_t n = 0; n < 40 && good == n; ++n) {
    for (DataLoader<1>& loader : loaders) (void)loader.next();
    good += in_child([&] {
              for (DataLoader<1>& loader : loaders)
                if (loader.next()[0].item<std::int64_t>() != n + 1) return false;
              loaders.clear();
              return true;
            }) == 0;
  }
  CHECK(good == 40);
}
#endif

#endif

TEST_CASE("read_ahead: leaks no memory") {
  const std::int64_t before = memory_stats().live_bytes;
  {
    DataLoader loader(100, [](std::int64_t) { return ones({1000}); }, {.batch_size = 10, .read_ahead = 4});
    for (const auto& batch : loader)
      if (batch[0].numel() > 0) break;
    for (const auto& batch : loader) (void)batch;
    const auto kept = loader.next();
    CHECK(memory_stats().live_bytes > before);
  }
  CHECK(memory_stats().live_bytes == before);
}

TEST_CASE("read_ahead: a profile shows the wait for a batch") {
  const Profile profile;
  DataLoader loader(4, [](std::int64_t) { return ones({1000}); }, {.batch_size = 2, .read_ahead = 1});
  (void)loop(loader);
  CHECK(profile.table().find("DataLoader") != std::string::npos);
}

}  // namespace
}  // namespace gradus::test
