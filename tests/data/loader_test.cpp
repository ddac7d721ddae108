// DataLoader: its batches, their order, and the errors it reports.

#include "gradus/data/loader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "data/batches.h"

namespace gradus::test {
namespace {

using data::DataLoader;

std::vector<std::int64_t> counting(std::int64_t n) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(n));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

TEST_CASE("DataLoader: rows of tensors, in order") {
  const Tensor x = arange(20.0).reshape({10, 2}), y = arange(10);
  DataLoader loader({x, y}, {.batch_size = 4});
  static_assert(std::is_same_v<decltype(loader), DataLoader<2>>);
  CHECK(loader.size() == 3);
  std::vector<Shape> shapes;
  std::int64_t next = 0;
  for (const auto& [xb, yb] : loader) {
    shapes.push_back(xb.shape());
    const std::int64_t end = std::min<std::int64_t>(next + 4, 10);
    CHECK(equal(xb, x.slice(0, next, end)));
    CHECK(equal(yb, y.slice(0, next, end)));
    next = end;
  }
  CHECK(shapes == std::vector<Shape>{{4, 2}, {4, 2}, {2, 2}});
}

TEST_CASE("DataLoader: one tensor, an array of tensors, views, every dtype") {
  const Tensor x = arange(6).to(f64).reshape({2, 3}).t();
  DataLoader one({x});
  static_assert(std::is_same_v<decltype(one), DataLoader<1>>);
  std::int64_t row = 0;
  for (const auto& [xb] : one) {
    CHECK(equal(xb, x.slice(0, row, row + 1)));
    ++row;
  }
  CHECK(row == 3);
  DataLoader plain(x, {.batch_size = 3}), picked(x[x > 2]), moved(std::move(one));
  static_assert(std::is_same_v<decltype(plain), DataLoader<1>>);
  static_assert(std::is_same_v<decltype(picked), DataLoader<1>>);
  CHECK(equal(plain.next()[0], x));
  CHECK(picked.size() == 3);
  CHECK(moved.epoch() == 1);
  DataLoader three(std::array{x > 2, x, x.to(i64)}, {.batch_size = 3});
  static_assert(std::is_same_v<decltype(three), DataLoader<3>>);
  for (const auto& [a, b, c] : three) {
    CHECK(a.dtype() == boolean);
    CHECK(equal(b, x));
    CHECK(equal(c, x.to(i64)));
  }
}

TEST_CASE("DataLoader: batches are copies, and rows are read when a batch is made") {
  const Tensor x = zeros({4, 2});
  for (const bool shuffle : {false, true}) {
    DataLoader loader({x}, {.batch_size = 4, .shuffle = shuffle});
    for (const auto& [xb] : loader) xb.fill_(7);
    CHECK(equal(x, zeros({4, 2})));
  }
  DataLoader loader({x}, {.batch_size = 2});
  x.fill_(3);
  CHECK(equal(loader.next()[0], full({2, 2}, 3.0)));
}

TEST_CASE("DataLoader: shuffled, each item once per epoch, a new order each epoch, decided by the seed") {
  const Tensor x = arange(100);
  const auto orders = [&](std::uint64_t seed) {
    manual_seed(seed);
    DataLoader loader({x}, {.batch_size = 7, .shuffle = true});
    std::vector<std::vector<std::int64_t>> result;
    for (int epoch = 0; epoch < 3; ++epoch) result.push_back(ids_of(loop(loader)));
    return result;
  };
  const auto first = orders(0);
  CHECK(first == orders(0));
  CHECK(first != orders(1));
  CHECK(first[0] != first[1]);
  CHECK(first[1] != first[2]);
  for (auto order : first) {
    CHECK(order != counting(100));
    std::sort(order.begin(), order.end());
    CHECK(order == counting(100));
  }
}

TEST_CASE("DataLoader: every item is equally likely at every position") {
  const std::int64_t n = 5, epochs = 5000;
  DataLoader loader({arange(n)}, {.batch_size = n, .shuffle = true, .generator = Generator(1)});
  std::vector<int> counts(static_cast<std::size_t>(n * n));
  for (std::int64_t e = 0; e < epochs; ++e) {
    const auto order = loader.next()[0].to_vector<std::int64_t>();
    for (std::int64_t i = 0; i < n; ++i)
      ++counts[static_cast<std::size_t>(i * n + order[static_cast<std::size_t>(i)])];
  }
  double chi2 = 0;  // 25 cells of 1000: above 50 once in a thousand seeds; the seed is fixed
  for (const int count : counts) chi2 += (count - 1000.0) * (count - 1000.0) / 1000;
  CHECK(chi2 < 50);
}

TEST_CASE("DataLoader: its own generator; without randomness none is used") {
  const Tensor x = arange(50);
  const auto order = [&](std::uint64_t seed) {
    DataLoader loader({x}, {.batch_size = 50, .shuffle = true, .generator = Generator(seed)});
    return loader.next()[0].to_vector<std::int64_t>();
  };
  const Generator::State before = default_generator().state();
  CHECK(order(7) == order(7));
  CHECK(order(7) != order(8));
  DataLoader plain({x}, {.batch_size = 50});
  (void)loop(plain);
  CHECK(default_generator().state() == before);
  DataLoader shuffled({x}, {.shuffle = true});
  CHECK(default_generator().state() != before);
}

TEST_CASE("DataLoader: drop_last") {
  DataLoader loader({arange(10)}, {.batch_size = 4, .drop_last = true});
  CHECK(loader.size() == 2);
  CHECK(ids_of(loop(loader)) == counting(8));
  DataLoader whole({arange(8)}, {.batch_size = 4, .drop_last = true});
  CHECK(whole.size() == 2);
  DataLoader large({arange(3)}, {.batch_size = INT64_MAX});
  CHECK(ids_of(loop(large)) == counting(3));
}

TEST_CASE("DataLoader: items of a function") {
  const Tensor x = randn({7, 3});
  DataLoader loader(7, [&](std::int64_t i) { return std::array{x[i], tensor(i)}; }, {.batch_size = 3});
  static_assert(std::is_same_v<decltype(loader), DataLoader<2>>);
  std::int64_t next = 0;
  for (const auto& [xb, ib] : loader) {
    const std::int64_t end = std::min<std::int64_t>(next + 3, 7);
    CHECK(equal(xb, x.slice(0, next, end)));
    CHECK(ib.shape() == Shape{end - next});
    next = end;
  }
  // One tensor, the result of x[ids], a pair; a size_t as the count.
  DataLoader one(std::size_t{2}, [&](std::int64_t i) { return x[i]; });
  static_assert(std::is_same_v<decltype(one), DataLoader<1>>);
  CHECK(one.next()[0].shape() == Shape{1, 3});
  DataLoader picked(2, [&](std::int64_t i) { return x[tensor({i})]; });
  static_assert(std::is_same_v<decltype(picked), DataLoader<1>>);
  CHECK(picked.next()[0].shape() == Shape{1, 1, 3});
  DataLoader pair(2, [&](std::int64_t i) { return std::pair(x[i], x); });
  static_assert(std::is_same_v<decltype(pair), DataLoader<2>>);
  CHECK(pair.next()[1].shape() == Shape{1, 7, 3});
  DataLoader tuple(2, [&](std::int64_t i) { return std::tuple(x[i], x, tensor(i)); });
  static_assert(std::is_same_v<decltype(tuple), DataLoader<3>>);
  DataLoader reference(2, [&](std::int64_t) -> const Tensor& { return x; }, {.batch_size = 2});
  CHECK(reference.next()[0].shape() == Shape{2, 7, 3});
  CHECK(x.defined());
}

TEST_CASE("DataLoader: epochs, loops that are left, next()") {
  DataLoader loader({arange(5)}, {.batch_size = 2, .shuffle = true, .generator = Generator(3)});
  DataLoader steps({arange(5)}, {.batch_size = 2, .shuffle = true, .generator = Generator(3)});
  CHECK(loader.epoch() == 0);
  std::vector<std::array<Tensor, 1>> batches;
  while (loader.epoch() < 3)
    for (const auto& batch : loader) {
      CHECK(loader.epoch() == static_cast<std::int64_t>(batches.size()) / 3);
      batches.push_back(batch);
    }
  CHECK(batches.size() == 9);
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(equal(steps.next()[0], batches[i][0]));
    CHECK(steps.epoch() == static_cast<std::int64_t>(i + 1) / 3);
  }
  DataLoader two({arange(5)});
  int count = 0;
  for (; two.epoch() < 2; ++count) (void)two.next();
  CHECK(count == 10);
  CHECK(loop(two).size() == 5);  // the third, whole
  CHECK(two.epoch() == 3);
  // A loop that was left is not continued.
  for (const auto& batch : loader) {
    (void)batch;
    break;
  }
  CHECK(loader.epoch() == 3);
  const auto fifth = loop(loader);
  CHECK(fifth.size() == 3);
  CHECK(loader.epoch() == 5);
  for (int i = 0; i < 3; ++i) (void)steps.next();  // epoch 3
  for (std::size_t i = 0; i < 3; ++i) CHECK(equal(steps.next()[0], fifth[i][0]));
}

TEST_CASE("DataLoader: two loops at once need two loaders") {
  DataLoader a({arange(6)}, {.batch_size = 2}), b({arange(4)}, {.batch_size = 2});
  int pairs = 0;
  for (const auto& [x] : a)
    for (const auto& [y] : b) pairs += x.size(0) == y.size(0);
  CHECK(pairs == 6);
  const char* const said = "inside a `for` over this loader, another `for` over it began";
  CHECK(contains(message_of([&] {
                   for (const auto& x : a)
                     for (const auto& y : a) (void)x, (void)y;
                 }),
                 said));
  CHECK(contains(message_of([&] {
                   for (const auto& x : a) (void)x, (void)a.next();
                 }),
                 said));
  CHECK(contains(message_of([&] {
                   for (const auto& x : a) (void)x, a.load_state_dict(a.state_dict());
                 }),
                 said));
}

TEST_CASE("DataLoader: can be moved, kept in structs and lists, and outlived by its loop") {
  struct Task {
    DataLoader<1> train;
  };
  Task task{DataLoader({arange(4)}, {.batch_size = 3})};
  std::vector<DataLoader<1>> list;
  list.push_back(std::move(task.train));
  list.push_back(DataLoader({arange(2)}));
  CHECK(ids_of(loop(list[0])) == counting(4));
  CHECK(contains(message_of([&] { (void)task.train.size(); }), "was moved from"));
  CHECK(contains(message_of([&] { (void)task.train.begin(); }), "was moved from"));
  task.train = std::move(list[0]);
  CHECK(task.train.epoch() == 1);
  int batches = 0;
  for (const auto& batch : DataLoader({arange(4)}, {.read_ahead = 1})) batches += batch[0].size(0) == 1;
  CHECK(batches == 4);
  auto iterator = DataLoader({arange(4)}).begin();
  CHECK((*++iterator)[0].item() == 1);
  for (const std::int64_t ahead : {0, 2}) {
    DataLoader many({arange(4)}, {.read_ahead = ahead});
    std::optional first(many.begin());
    auto moved = std::move(*first);
    first.reset();  // the loop goes on
    CHECK((*moved)[0].item() == 0);
    CHECK((*++moved)[0].item() == 1);
    CHECK(many.state_dict().at("handed_out").item<std::int64_t>() == 2);
  }
}

TEST_CASE("DataLoader: batches have no tape") {
  const Tensor w = ones({3}).requires_grad_();
  for (const std::int64_t ahead : {0, 1}) {
    bool recorded = true;
    const auto item = [&](std::int64_t i) { return recorded = (w * i).requires_grad(), w * i; };
    DataLoader loader(3, item, {.batch_size = 3, .read_ahead = ahead});
    CHECK(!loader.next()[0].requires_grad());
    CHECK(!recorded);
  }
  CHECK(grad_enabled());
}

TEST_CASE("DataLoader: invalid tensors") {
  const Tensor x = ones({3, 2});
  const auto said = [](auto... tensors) { return message_of([&] { DataLoader loader({tensors...}); }); };
  CHECK(contains(said(x, Tensor()), "DataLoader: tensor 1 is undefined"));
  CHECK(contains(said(x, tensor(1.0)), "tensor 1 has no axes, expects [items, ...]"));
  CHECK(contains(said(x, ones({4})), "tensors 0 [3, 2] and 1 [4] have different numbers of items"));
  CHECK(contains(said(ones({0, 3})), "expects 1 item or more, got 0"));
  CHECK(contains(said(ones({2}).requires_grad_()), "tensor 0 [2] requires grad, and batches have no tape"));
}

TEST_CASE("DataLoader: invalid options") {
  const auto said = [](const data::DataLoaderOptions& options) {
    return message_of([&] { DataLoader loader({arange(4)}, options); });
  };
  const auto length = [](std::int64_t i) { return i + 1; };
  CHECK(contains(said({.batch_size = 0}), "expects a batch_size of 1 or more, got 0"));
  CHECK(contains(said({.batch_size = -3}), "got -3"));
  CHECK(contains(said({.batch_size = 5, .drop_last = true}), "drop_last leaves nothing of 4 items"));
  CHECK(contains(said({.pad = {0}}), "all rows of a tensor have the same length: leave it out"));
  CHECK(contains(said({.max_tokens = 10}), "max_tokens 10 needs the lengths of items"));
  CHECK(contains(said({.bucket = 10}), "bucket 10 needs the lengths of items"));
  CHECK(contains(said({.length = length, .bucket = -1}), "expects max_tokens and bucket of 0 or more"));
  CHECK(contains(said({.max_tokens = -1, .length = length}), "got -1 and 100"));
  CHECK(contains(said({.length = length, .bucket = 0}), "length decides nothing"));
  CHECK(contains(said({.batch_size = 2, .max_tokens = 9, .length = length}),
                 "takes the place of batch_size 2"));
  CHECK(contains(said({.max_tokens = 9, .drop_last = true, .length = length}),
                 "with max_tokens batches have different sizes"));
  CHECK(contains(said({.max_tokens = 3, .length = length}),
                 "item 3 has a length of 4, more than the max_tokens 3"));
  CHECK(contains(said({.length = [](std::int64_t i) { return 1 - i; }}), "item 2 has a length of -1"));
  CHECK(contains(said({.read_ahead = -1}), "expects to read_ahead 0 to 1024 batches, got -1"));
  CHECK(contains(said({.read_ahead = 1025}), "got 1025"));
  const auto function = [](std::int64_t i) { return std::array{tensor(i), tensor(i)}; };
  CHECK(contains(message_of([&] { DataLoader loader(0, function); }), "expects 1 item or more, got 0"));
  CHECK(contains(message_of([&] { DataLoader loader(-2, function); }), "got -2"));
  CHECK(contains(message_of([&] {
                   DataLoader loader(3, function, {.pad = {0, 0, 0}});
                 }),
                 "pad has 3 values, expects 1, or one for each of an item's 2 parts"));
}

TEST_CASE("DataLoader: a function that uses its own loader") {
  for (const std::int64_t ahead : {0, 2}) {
    DataLoader<1>* self = nullptr;
    DataLoader loader(4, [&](std::int64_t) { return self->next()[0]; }, {.read_ahead = ahead});
    self = &loader;
    CHECK(contains(message_of([&] { (void)loader.next(); }), "takes batches from its own loader"));
    DataLoader looping(4, [&](std::int64_t i) { return loop(*self), tensor(i); }, {.read_ahead = ahead});
    self = &looping;
    CHECK(contains(message_of([&] { (void)loop(looping); }), "takes batches from its own loader"));
  }
}

}  // namespace
}  // namespace gradus::test
