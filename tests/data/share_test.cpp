// A DataLoader that makes a share of each batch, for one of many ranks.

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "check_op.h"
#include "data/batches.h"

namespace gradus::test {
namespace {

using data::DataLoader;
using data::Share;

/// The shares of each batch of `epochs` epochs, one loader for each, put together.
template <class Make>
std::vector<std::array<Tensor, 2>> put_together(const Make& make, int loaders, int shards,
                                                std::int64_t batches) {
  std::vector<std::array<Tensor, 2>> result;
  std::vector<DataLoader<2>> all;
  const int each = shards / loaders;
  for (int i = 0; i < loaders; ++i)
    all.push_back(make(Share{.begin = i * each, .end = (i + 1) * each, .of = shards}));
  for (std::int64_t k = 0; k < batches; ++k) {
    std::array<std::vector<Tensor>, 2> parts;
    std::int64_t rows = 0;
    for (DataLoader<2>& loader : all) {
      const auto batch = loader.next();
      CHECK(batch[0].size(0) == batch[1].size(0));
      rows += batch[0].size(0);
      for (std::size_t p = 0; p < 2; ++p) parts[p].push_back(batch[p]);
    }
    for (const DataLoader<2>& loader : all) CHECK(loader.batch_rows() == rows);
    result.push_back({cat(parts[0], 0), cat(parts[1], 0)});
  }
  return result;
}

template <class Make>
void check_shares(const Make& make) {
  const auto whole = put_together(make, 1, 1, 9);
  for (const int loaders : {1, 2, 4, 8}) {
    CAPTURE(loaders);
    CHECK(same(put_together(make, loaders, 8, 9), whole));
  }
}

TEST_CASE("DataLoader: shares of all ranks are the batches of one") {
  const Tensor x = arange(66.0).reshape({22, 3}), y = arange(22);
  for (const bool shuffle : {false, true})
    for (const std::int64_t read_ahead : {0, 2})  // batches of 5, 5, 5, 5 and 2 rows: fewer than shards
      check_shares([&](const Share& share) {
        return DataLoader({x, y}, {.batch_size = 5,
                                   .shuffle = shuffle,
                                   .generator = Generator(3),
                                   .read_ahead = read_ahead,
                                   .share = share});
      });
}

TEST_CASE("DataLoader: shares of items with random numbers, padding and batches of tokens") {
  const auto item = [](std::int64_t i, Generator& generator) {
    const Tensor x(random_normal({1 + i % 4}, 0, 1, f32, generator));
    return std::array{x, full({1 + i % 4}, i)};
  };
  const auto fixed = [](std::int64_t i, Generator& generator) {
    return std::array{Tensor(random_normal({2}, 0, 1, f32, generator)), tensor(i)};
  };
  check_shares([&](const Share& share) {
    return DataLoader(22, item, {.batch_size = 5, .pad = {0}, .generator = Generator(3), .share = share});
  });
  check_shares([&](const Share& share) {
    return DataLoader(22, item,
                      {.max_tokens = 12,
                       .shuffle = true,
                       .pad = {0},
                       .length = [](std::int64_t i) { return 1 + i % 4; },
                       .generator = Generator(3),
                       .share = share});
  });
  check_shares([&](const Share& share) {
    return DataLoader(22, fixed,
                      {.batch_size = 5, .shuffle = true, .generator = Generator(3), .share = share});
  });
}

TEST_CASE("DataLoader: a state goes on with other shares") {
  const Tensor x = arange(40.0).reshape({20, 2}), y = arange(20);
  const auto loader = [&](int seed, const Share& share) {
    return DataLoader({x, y}, {.batch_size = 4,
                               .shuffle = true,
                               .generator = Generator(static_cast<std::uint64_t>(seed)),
                               .share = share});
  };
  DataLoader first = loader(1, {.begin = 1, .end = 2, .of = 2}), whole = loader(1, {});
  for (int i = 0; i < 7; ++i) first.next(), whole.next();
  DataLoader half = loader(2, {.begin = 2, .end = 4, .of = 4});
  CHECK(half.fingerprint() != first.fingerprint());
  half.load_state_dict(first.state_dict());
  CHECK(half.fingerprint() == first.fingerprint());
  for (int i = 0; i < 5; ++i) {
    const auto all = whole.next(), mine = half.next();
    for (std::size_t part = 0; part < 2; ++part) CHECK(equal(mine[part], all[part].slice(0, 2, 4)));
  }
}

TEST_CASE("DataLoader: a fingerprint says which loaders give the same batches") {
  const Tensor x = arange(6.0);
  const auto of = [](const Tensor& data, std::uint64_t seed, std::int64_t batch) {
    return DataLoader(data, {.batch_size = batch, .shuffle = true, .generator = Generator(seed)})
        .fingerprint();
  };
  const std::string one = of(x, 1, 2);
  CHECK(of(x.clone(), 1, 2) == one);
  CHECK(of(x, 2, 2) != one);
  CHECK(of(x, 1, 3) != one);
  CHECK(of(x + 1, 1, 2) != one);
  CHECK(of(x.to(f64), 1, 2) != one);
  DataLoader items(6, [&](std::int64_t i) { return x[i]; }, {.batch_size = 4, .generator = Generator(1)});
  (void)items.next();
  CHECK(items.fingerprint() ==
        "seed " + std::to_string(Generator(1).next()) +
            ", epoch 0, batch 1, items 6, parts 1, batch_size 4, max_tokens 0, shuffle 0, drop_last 0");
  check_error([&] { DataLoader(x, {.share = {.begin = 1, .end = 1, .of = 2}}); },
              "DataLoader: expects a share of shards begin .. end - 1 of `of`, got 1 .. 1 of 2");
  check_error([&] { DataLoader(x, {.share = {.begin = 0, .end = 3, .of = 2}}); },
              "DataLoader: expects a share of shards begin .. end - 1 of `of`, got 0 .. 3 of 2");
}

}  // namespace
}  // namespace gradus::test
