// While a model trains, four threads use loaders with read-ahead: they stop early, destroy and restore them,
// and the item functions throw. The batches are always those of a loader without read-ahead.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gradus/gradus.h"
#include "soak.h"

namespace gradus::test {

namespace {

using LoaderOfTwo = data::DataLoader<2>;

struct ItemFailed {};

/// What happened, on all threads.
struct Counts {
  std::atomic<std::int64_t> batches = 0, wrong = 0, loaders = 0, failures = 0;
};

/// One order of batches over two epochs, and loaders that must follow it from any position.
class Order {
 public:
  Order(Generator random, Counts& counts) : random_(random), counts_(counts) {
    items_ = 8 + below(50);
    options_ = {.batch_size = 1 + below(8),
                .shuffle = below(2) == 0,
                .drop_last = below(2) == 0,
                .pad = {-1, 0},
                .generator = Generator(random_.next())};
    LoaderOfTwo loader = make(0);
    in_epoch_ = loader.size();
    while (loader.epoch() < 2) expected_.push_back(loader.next());
  }

  /// Loaders follow the order, until its end or until one is abandoned.
  void follow() {
    std::unique_ptr<LoaderOfTwo> loader;
    bool resumed = false;
    while (done_ < expected_.size()) {
      if (!loader ||
          below(4) == 0) {  // another loader continues, and the old one ends while its thread works
        auto next = std::make_unique<LoaderOfTwo>(make(below(5)));
        if (loader) next->load_state_dict(loader->state_dict());
        loader = std::move(next);
        resumed = true;
        ++counts_.loaders;
      }
      if (below(3) == 0) fails_in_ = below(20);
      const std::int64_t some = 1 + below(6);
      try {
        if (resumed || std::int64_t(done_) % in_epoch_ == 0)
          loop(*loader, some);
        else
          for (std::int64_t i = 0; i < some && done_ < expected_.size(); ++i) expect(loader->next());
      } catch (const ItemFailed&) {
        ++counts_.failures;  // the next attempt makes the same batch
      }
      resumed = false;
      if (below(12) == 0) return;
    }
  }

 private:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_.next() % std::uint64_t(n)); }

  LoaderOfTwo make(std::int64_t ahead) {
    data::DataLoaderOptions options = options_;
    options.read_ahead = ahead;
    return LoaderOfTwo(
        items_,
        [this](std::int64_t i, Generator& g) {
          if (fails_in_ >= 0 && fails_in_-- == 0) throw ItemFailed();
          if (i % 16 == 3) std::this_thread::sleep_for(std::chrono::microseconds(50));
          return std::array{full({1 + i % 5}, i), softmax(rand({16, 32}, g), -1)};
        },
        options);
  }

  void loop(LoaderOfTwo& loader, std::int64_t some) {
    for (const auto& batch : loader) {
      expect(batch);
      if (--some == 0) return;
    }
  }

  void expect(const TensorArray<2>& batch) {
    const auto& right = expected_[done_++];
    if (!equal(batch[0], right[0]) || !equal(batch[1], right[1])) ++counts_.wrong;
    ++counts_.batches;
  }

  Generator random_;
  Counts& counts_;
  std::int64_t items_ = 0, in_epoch_ = 0;
  data::DataLoaderOptions options_;
  std::vector<TensorArray<2>> expected_;
  std::size_t done_ = 0;
  std::atomic<std::int64_t> fails_in_ = -1;  // calls of the item function until one throws
};

/// The pool's work meanwhile; the last loss.
double train_meanwhile() {
  manual_seed(1);
  const nn::Linear linear(256, 128);
  optim::SGD sgd(linear.parameters(), {.lr = 0.1});
  double last = 0;
  for (int step = 0; step < 20; ++step) {
    sgd.zero_grad();
    const Tensor loss = mse_loss(linear(randn({64, 256})), ones({64, 128}));
    loss.backward();
    sgd.step();
    last = loss.item();
  }
  return last;
}

}  // namespace

TEST_CASE(
    "soak: loaders with read-ahead give the batches of loaders without it, also after errors and restarts") {
  constexpr std::uint64_t kThreads = 4, kOrders = 6;
  Counts counts;
  Soak soak("loaders", 24, 8);
  const double loss = train_meanwhile();
  while (soak.more()) {
    std::vector<std::thread> threads;
    for (std::uint64_t id = 0; id < kThreads; ++id)
      threads.emplace_back([&counts, id, round = std::uint64_t(soak.rounds())] {
        for (std::uint64_t i = 0; i < kOrders; ++i)
          Order(Generator(round, kOrders * id + i), counts).follow();
      });
    const double again = train_meanwhile();
    for (std::thread& thread : threads) thread.join();
    CHECK(again == loss);
    REQUIRE(counts.wrong == 0);
  }
  CHECK(counts.failures > 0);
  CHECK(counts.loaders > soak.rounds());
  MESSAGE(counts.batches.load() << " batches of " << counts.loaders.load() << " loaders, "
                                << counts.failures.load() << " exceptions of item functions");
}

}  // namespace gradus::test
