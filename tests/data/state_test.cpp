// The position in the epoch: saved anywhere, restored bit for bit.

#include <doctest/doctest.h>

#include <limits>

#include "data/batches.h"
#include "support.h"

namespace gradus::test {
namespace {

using data::DataLoader;
using data::DataLoaderOptions;

/// A loader of random items, whose order and values the seed decides.
DataLoader<2> make(DataLoaderOptions options, std::uint64_t seed) {
  options.generator = Generator(seed);
  return DataLoader(
      11,
      [](std::int64_t i) {
        return std::array{rand({3}) + i, tensor(i)};
      },
      options);
}

TEST_CASE("DataLoader: saved at every position of a loop, it continues bit for bit") {
  for (const std::int64_t ahead : {0, 2})
    for (const bool drop_last : {false, true}) {
      const DataLoaderOptions options = {
          .batch_size = 3, .shuffle = true, .drop_last = drop_last, .read_ahead = ahead};
      auto whole = make(options, 1);
      std::vector<std::array<Tensor, 2>> all;
      std::vector<StateDict> states = {whole.state_dict()};  // [i]: after i batches, in the loop
      std::vector<StateDict> between;                        // after a loop
      while (whole.epoch() < 3) {
        for (const auto& batch : whole) {
          all.push_back(batch);
          states.push_back(whole.state_dict());
        }
        between.push_back(whole.state_dict());
      }
      const std::size_t per_epoch = all.size() / 3;
      const auto goes_on = [&](const StateDict& state, std::size_t from, bool by_next) {
        auto other = make(options, 99);  // the seed comes with the state
        (void)other.next();              // in an order of its own
        other.load_state_dict(state);
        std::vector<std::array<Tensor, 2>> rest;
        while (rest.size() < all.size() - from) {
          if (by_next)
            rest.push_back(other.next());
          else
            for (const auto& batch : other) rest.push_back(batch);
        }
        return same(rest, {all.begin() + static_cast<std::ptrdiff_t>(from), all.end()});
      };
      for (std::size_t i = 0; i < states.size(); ++i) {
        CAPTURE(i);
        CHECK(goes_on(states[i], i, false));
        CHECK(goes_on(states[i], i, true));
      }
      for (std::size_t e = 0; e < 3; ++e) CHECK(goes_on(between[e], (e + 1) * per_epoch, false));
    }
}

TEST_CASE("DataLoader: after loading, the rest of the epoch is one loop, also at its end") {
  auto loader = make({.batch_size = 4}, 1);
  std::vector<StateDict> states = {loader.state_dict()};
  for (const auto& batch : loader) (void)batch, states.push_back(loader.state_dict());
  for (std::size_t done = 0; done <= 3; ++done) {
    auto other = make({.batch_size = 4}, 2);
    (void)other.next();
    other.load_state_dict(states[done]);
    CHECK(other.epoch() == 0);
    CHECK(other.size() == 3);
    CHECK(loop(other).size() == 3 - done);
    CHECK(other.epoch() == 1);
    CHECK(loop(other).size() == 3);
    // A loop left by break is not continued, also after loading; loading again continues it.
    for (const auto& batch : other) {
      (void)batch;
      break;
    }
    CHECK(loop(other).size() == 3);
    other.load_state_dict(states[done]);
    CHECK(loop(other).size() == 3 - done);
    other.load_state_dict(states[done]);
    for (const auto& batch : other) {
      (void)batch;
      break;
    }
    CHECK(loop(other).size() == 3);
  }
}

TEST_CASE("DataLoader: saved after the last next(), it continues with a whole epoch") {
  auto loader = make({.batch_size = 4, .shuffle = true}, 1),
       other = make({.batch_size = 4, .shuffle = true}, 2);
  for (int i = 0; i < 3; ++i) (void)loader.next();
  CHECK(loader.epoch() == 1);
  other.load_state_dict(loader.state_dict());
  CHECK(other.epoch() == 1);
  const auto second = loop(loader);
  CHECK(second.size() == 3);
  CHECK(same(loop(other), second));
  CHECK(other.epoch() == 2);
  // In a loop's last batch the epoch is not over: next() continues with the following one.
  for (const auto& batch : loader) (void)batch, other.load_state_dict(loader.state_dict());
  CHECK(other.epoch() == 2);
  CHECK(same<2>({other.next()}, {loader.next()}));
  CHECK(other.epoch() == 3);
  CHECK(same(loop(other), loop(loader)));
}

TEST_CASE("DataLoader: saved after a break, a restart continues in the middle") {
  auto loader = make({.batch_size = 4, .shuffle = true}, 1),
       other = make({.batch_size = 4, .shuffle = true}, 2);
  for (const auto& batch : loader) {
    (void)batch;
    break;
  }
  other.load_state_dict(loader.state_dict());
  CHECK(loop(other).size() == 2);
  CHECK(other.epoch() == 1);
  CHECK(same(loop(other), loop(loader)));  // which leaves the rest of epoch 0 out
}

TEST_CASE("DataLoader: a state counts batches returned, not batches read ahead") {
  auto loader = make({.batch_size = 2, .read_ahead = 5}, 1);
  for (std::int64_t i = 1; i <= 4; ++i) {
    (void)loader.next();
    CHECK(loader.state_dict().at("handed_out").item<std::int64_t>() == i);
  }
}

TEST_CASE("DataLoader: buckets and token limits are restored too") {
  const auto options = [](std::int64_t add) {
    return DataLoaderOptions{.max_tokens = 40,
                             .shuffle = true,
                             .length = [add](std::int64_t i) { return (i * 7 + add) % 19; },
                             .bucket = 2};
  };
  DataLoader a({arange(60)}, options(0)), b({arange(60)}, options(0)), c({arange(60)}, options(1));
  (void)loop(a);
  for (int i = 0; i < 4; ++i) (void)a.next();
  b.load_state_dict(a.state_dict());
  CHECK(b.size() == a.size());
  for (int i = 0; i < 30; ++i) CHECK(equal(a.next()[0], b.next()[0]));
  CHECK(contains(message_of([&] { c.load_state_dict(a.state_dict()); }),
                 "the state is of a loader with lengths"));
}

TEST_CASE("DataLoader: a checkpoint can contain its state together with others") {
  const ScratchFolder folder;
  auto a = make({.batch_size = 2, .shuffle = true}, 1), b = make({.batch_size = 2, .shuffle = true}, 2);
  for (int i = 0; i < 8; ++i) (void)a.next();
  StateDict all;
  all.add_all("loader.", a.state_dict());
  save_checkpoint(folder / "run", all);
  b.load_state_dict(load_checkpoint(folder / "run").tensors.with_prefix_removed("loader."));
  CHECK(b.epoch() == 1);
  for (int i = 0; i < 9; ++i) CHECK(same<2>({a.next()}, {b.next()}));
}

TEST_CASE("DataLoader: invalid states change nothing") {
  const auto x = arange(10);
  DataLoader loader({x}, {.batch_size = 3, .shuffle = true, .generator = Generator(1)});
  DataLoader untouched({x}, {.batch_size = 3, .shuffle = true, .generator = Generator(1)});
  const StateDict good = loader.state_dict();
  (void)loader.next(), (void)untouched.next();
  const auto said = [&](const StateDict& dict) { return message_of([&] { loader.load_state_dict(dict); }); };
  const auto of = [](std::int64_t n, const DataLoaderOptions& options) {
    return DataLoader({arange(n)}, options).state_dict();
  };
  const auto with = [&](const char* key, const Tensor& value) {
    StateDict dict = good;
    dict.set(key, value);
    return dict;
  };
  CHECK(contains(said(of(9, {.batch_size = 3, .shuffle = true})),
                 "the state is of a loader with items 9, this one has 10: the batches would differ"));
  CHECK(contains(said(of(10, {.batch_size = 2, .shuffle = true})), "with batch_size 2, this one has 3"));
  CHECK(contains(said(of(10, {.batch_size = 3})), "with shuffle 0, this one has 1"));
  CHECK(contains(said(of(10, {.batch_size = 3, .shuffle = true, .drop_last = true})), "with drop_last 1"));
  CHECK(contains(said(of(10, {.batch_size = 3, .shuffle = true, .length = [](std::int64_t i) { return i; }})),
                 "the state has 11 entries, expects 9"));
  CHECK(contains(said({}), "expects one i64 items in the state"));
  CHECK(contains(said(with("epoch", tensor(1.5))), "expects one i64 epoch in the state"));
  CHECK(contains(said(with("epoch", tensor({0, 1}))), "expects one i64 epoch in the state"));
  CHECK(contains(said(with("seed", Tensor())), "expects one i64 seed in the state"));
  CHECK(contains(said(with("epoch", tensor(-1))), "epoch -1 in the state"));
  CHECK(contains(said(with("epoch", tensor(std::numeric_limits<std::int64_t>::max()))), "expects 0 to"));
  CHECK(contains(said(with("handed_out", tensor(5))), "5 batches handed out in the state, expects 0 to 4"));
  CHECK(contains(said(with("handed_out", tensor(-1))), "-1 batches handed out"));
  CHECK(contains(said(with("more", tensor(1))), "the state has 10 entries, expects 9"));
  for (int i = 0; i < 9; ++i) CHECK(equal(loader.next()[0], untouched.next()[0]));
}

}  // namespace
}  // namespace gradus::test
