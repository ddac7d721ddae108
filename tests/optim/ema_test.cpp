// Averages of weights. Their values are compared with PyTorch's in tests/golden/optim_test.cpp.

#include "gradus/optim/ema.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/sgd.h"

namespace gradus::test {
namespace {

double first_of(const Tensor& w) { return w.to_vector<double>().at(0); }

void set(const Tensor& w, double value) {
  const NoGrad guard;
  w.fill_(value);
}

}  // namespace

TEST_CASE("EMA: in a Use the parameters hold the averages, and it may end by an exception") {
  const Tensor w = full({2}, 8, f64).requires_grad_(), shared = w;
  optim::EMA ema({w}, 0.75);
  {
    const optim::EMA::Use use(ema);
    CHECK(first_of(w) == 8);  // no update yet
  }
  ema.update();
  set(w, 4);
  ema.update();
  CHECK(ema.updates() == 2);
  CHECK(first_of(w) == 4);
  const std::uint32_t version = w.array().storage().version();
  {
    const optim::EMA::Use use(ema);
    CHECK(first_of(w) == 7);
    CHECK(first_of(shared) == 7);
    CHECK(w.array().storage().version() != version);
  }
  CHECK(first_of(w) == 4);
  CHECK_THROWS([&] {
    const optim::EMA::Use use(ema);
    throw Error("inside");
  }());
  CHECK(first_of(w) == 4);
  set(w, 0);
  ema.update();
  const optim::EMA::Use use(ema);
  CHECK(first_of(w) == 5.25);
}

TEST_CASE("EMA: backward of an earlier tape detects the averages") {
  const Tensor w = full({2}, 8, f64).requires_grad_();
  optim::EMA ema({w});
  ema.update();
  const Tensor loss = (w * w).sum();
  const optim::EMA::Use use(ema);
  CHECK_THROWS_WITH_AS(loss.backward(), doctest::Contains("changed in place"), Error);
}

TEST_CASE("EMA: a saved and restored state continues bit for bit; one that does not fit changes nothing") {
  const nn::Module net("Net");
  const nn::Linear fc = net.add("fc", nn::Linear(2, 3));
  optim::EMA ema(net.parameters(), 0.7), again(net.parameters(), 0.7);
  for (int i = 0; i < 3; ++i) {
    set(fc.weight, 0.3 * i);
    ema.update();
  }
  again.load_state_dict(ema.state_dict());
  CHECK(again.updates() == 3);
  set(fc.weight, 0.1);
  ema.update();
  again.update();
  const StateDict a = ema.state_dict(), b = again.state_dict();
  CHECK(a.at("0.average").to_vector<float>() == b.at("0.average").to_vector<float>());

  StateDict bad = a;
  bad.set("0.average", zeros({2, 2}));
  check_error([&] { again.load_state_dict(bad); },
              "EMA: the average of fc.weight [3, 2] is f32 [2, 2] in the state, expects f32 [3, 2]");
  check_error([&] { again.load_state_dict(net.state_dict()); },
              "EMA: the state has no updates: it belongs to another optimizer or to a model");
  bad = a;
  bad.set("2.average", zeros({2, 2}));
  check_error([&] { again.load_state_dict(bad); },
              "EMA: the state has 4 entries, expects 3: it belongs to other parameters");
  CHECK(again.updates() == 4);
  CHECK(again.state_dict().at("0.average").to_vector<float>() == a.at("0.average").to_vector<float>());
}

TEST_CASE("EMA: averages of weights that have become 0 become 0") {
  const Tensor w = ones({3}).requires_grad_();
  optim::EMA ema({w}, 0.9);
  ema.update();
  {
    const NoGrad guard;
    w.fill_(0);
  }
  for (int i = 0; i < 800; ++i) ema.update();
  CHECK(ema.state_dict().at("0.average")[0].item() > 0);  // 0.9^800
  for (int i = 0; i < 100; ++i) ema.update();
  CHECK(ema.state_dict().at("0.average").to_vector<float>() == std::vector<float>(3, 0.0f));
}

TEST_CASE("EMA: errors") {
  const Tensor w = ones({2, 3}).requires_grad_();
  check_error([&] { optim::EMA({w}, 1); }, "EMA: expects a decay in [0, 1), got 1");
  check_error([&] { optim::EMA({w}, NAN); }, "EMA: expects a decay in [0, 1), got nan");
  check_error([] { optim::EMA(std::vector<Tensor>{}); }, "EMA: got no parameters: pass model.parameters()");
  check_error([&] { optim::EMA({w, Tensor()}); }, "EMA: parameter 1 is an undefined tensor");
  check_error([&] { optim::EMA({w, w}); }, "EMA: parameter 1 [2, 3] is given twice");
  check_error([] { optim::EMA({arange(3)}); }, "EMA: parameter 0 [3] is i64, expects f32 or f64");
  check_error([&] { optim::EMA({w.detach().t()}); },
              "EMA: parameter 0 [3, 2] is not contiguous: create it with contiguous()");
  optim::EMA ema({w});
  ema.update();
  const optim::EMA::Use use(ema);
  const std::string rest = " during an EMA::Use: the parameters hold the averages, end its scope first";
  check_error([&] { ema.update(); }, "EMA: update()" + rest);
  check_error([&] { ema.state_dict(); }, "EMA: state_dict()" + rest);
  check_error([&] { ema.load_state_dict({}); }, "EMA: load_state_dict()" + rest);
  check_error([&] { const optim::EMA::Use second(ema); }, "EMA: another EMA::Use" + rest);
}

}  // namespace gradus::test
