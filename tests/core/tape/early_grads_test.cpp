// EarlyGrads: leaves get their gradients during the pass, with the same bits.

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check_op.h"
#include "core/tape/custom.h"
#include "gradus/core/error.h"
#include "gradus/core/tape/autograd.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {

TEST_CASE("EarlyGrads: a leaf is ready right after its oldest user") {
  const Tensor a = leaf(2), b = leaf(3), c = leaf(5), unused = leaf(7);
  std::string order;
  const auto seen = [&](const Tensor& y, const char* name) {
    return custom(y, [&order, name](const Array& dy, Needs) -> Grads { return order += name, Grads{dy}; });
  };
  const auto run = [&] {
    const Tensor first = seen(a * b, "1");       // a's and b's oldest user
    const Tensor second = seen(first * c, "2");  // c's
    const Tensor third = seen(second * b, "3");
    third.backward();
  };
  run();
  CHECK(order == "321");
  const Values without{gradient(a), gradient(b), gradient(c)};
  for (const Tensor& leaf : {a, b, c}) leaf.zero_grad();
  order.clear();
  {
    const EarlyGrads guard([&](Node& leaf) {
      for (const auto& [x, name] : {std::pair(a, "a"), std::pair(b, "b"), std::pair(c, "c")})
        if (x.node().get() == &leaf) order += name;
      CHECK(leaf.grad.defined());
    });
    run();
  }
  CHECK(order == "32c1ba");  // of those ready together the newest comes first
  CHECK(Values{gradient(a), gradient(b), gradient(c)} == without);
  CHECK_FALSE(unused.grad().defined());
  order.clear();
  run();  // the scope has ended
  CHECK(order == "321");
}

TEST_CASE("EarlyGrads: a leaf whose gradient was taken away gets nothing more in that pass") {
  const Tensor w = leaf(tensor({1.0, 2.0})), v = leaf(tensor({3.0, 4.0}));
  std::vector<Array> taken;
  {
    const EarlyGrads guard([&](Node& leaf) { taken.push_back(std::exchange(leaf.grad, Array())); });
    ((w * v).sum() + (w * w).sum()).backward();
  }
  REQUIRE(taken.size() == 2);
  CHECK(values(Tensor(taken[0])) == Values{1, 2});  // v is newer
  CHECK(values(Tensor(taken[1])) == Values{5, 8});
  CHECK_FALSE(w.grad().defined());
}

TEST_CASE("EarlyGrads: with checkpoint, a frozen leaf and a loss that is a leaf") {
  const auto gradients = [](bool early) {
    const Tensor x = leaf(tensor({1.0, 2.0})), w = leaf(tensor({3.0, -4.0})), frozen = leaf(2);
    const auto f = [=](const Tensor& h) { return tanh(h * w) * frozen; };
    const Tensor y = checkpoint(f, checkpoint(f, x) + w);
    frozen.node()->requires_grad = false;
    int calls = 0;
    {
      std::optional<EarlyGrads> guard;
      if (early) guard.emplace([&](Node&) { ++calls; });
      (y * y).sum().backward();
      const Tensor alone = leaf(1);
      alone.backward();
      CHECK(gradient(alone) == 1);
    }
    CHECK(calls == (early ? 3 : 0));
    CHECK_FALSE(frozen.grad().defined());
    return std::vector<Tensor>{x.grad(), w.grad()};
  };
  const auto early = gradients(true), late = gradients(false);
  for (std::size_t i = 0; i < early.size(); ++i) CHECK(values(early[i]) == values(late[i]));
}

TEST_CASE("EarlyGrads: a callback that throws ends the pass; grad() and taped passes do not call it") {
  const Tensor x = leaf(2);
  const EarlyGrads guard([](Node&) { throw Error("enough"); });
  CHECK_THROWS_WITH_AS((x * x).backward(), "enough", Error);
  CHECK(grad(x * x, {x})[0].item() == 4);
  CHECK(grad(x * x * x, {x}, {.create_graph = true})[0].item() == 12);
  const std::int64_t nodes = live_nodes();
  CHECK_THROWS_AS((x * x).backward(), Error);
  CHECK(live_nodes() == nodes);
}

}  // namespace gradus::test
