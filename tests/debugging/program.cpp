// What the checks of this folder run, and stop in a debugger: program CASE.

#include <gradus/gradus.h>
#include <gradus/kit/kit.h>

#include <exception>
#include <string>
#include <thread>

using namespace gradus;

// [program]
Tensor loss_of(const nn::Linear& model, const Tensor& x, const Tensor& y) { return mse_loss(model(x), y); }

int train() {
  const nn::Linear model(3, 1);
  const Tensor x = randn({8, 4}), y = randn({8, 1});
  loss_of(model, x, y).backward();
  return 0;
}
// [/program]

void fails_in_a_lambda() {
  const nn::Sequential model(nn::Linear(3, 3), [](const Tensor& x) { return reshape(x, {7}); });
  model(ones({2, 3}));
}

void fails_in_backward() {
  Tensor w = ones({3});
  w.requires_grad_();
  const Tensor y = w * 2;
  y.on_grad([](const Tensor& dy) { return reshape(dy, {7}); });
  y.sum().backward();
}

void fails_in_the_pool() {
  set_num_threads(2);
  parallel_for(2, 1, [](std::int64_t, std::int64_t) { fail("no chunk works"); });
}

int fails_in_the_loader() {
  const auto item = [](std::int64_t i) { return ones({i + 1}); };
  data::DataLoader loader(4, item, {.batch_size = 2, .read_ahead = 1});
  loader.next();
  return 0;
}

void check_not_zero(int depth) {
  if (depth == 0) fail("too deep");
}

int recursive(int depth) {
  if (depth < 0) return 0;
  check_not_zero(depth);
  return recursive(depth - 1) + 1;
}

void caught_and_rethrown() {
  try {
    recursive(0);
  } catch (const Error&) {
    throw;
  }
}

void breakpoint(const Tensor&, const Tensor&, const nn::LayerNorm&, const Array&, const Shape&) {}

void stops() {
  nn::LayerNorm layer(2);
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}).to(f32);
  Tensor w = ones({3, 2});
  w.requires_grad_();
  const Tensor y = matmul(x, w), view = x.t(), undefined;
  const Tensor mask = x > 2, ids = arange(3), scalar = tensor(2.5), many = zeros({1000});
  const Array array = x.slice(1, 1, {}, 2).array();
  const Shape shape = x.shape();
  breakpoint(y, view, layer, array, shape);
}

int main(int, char** argv) {
  const std::string which = argv[1];
  if (which == "run_program") return kit::run_program("train", train);
  if (which == "input") return kit::run_program("train", [] { return kit::make_folder("/dev/null/out"), 0; });
  if (which == "unchanged") std::string().at(8);
  if (which != "plain") set_error_backtrace(true);
  if (which == "plain" || which == "train") return train();
  if (which == "lambda") fails_in_a_lambda();
  if (which == "backward") fails_in_backward();
  if (which == "pool") fails_in_the_pool();
  if (which == "loader") return kit::run_program("loader", fails_in_the_loader);
  if (which == "recursive") recursive(10);
  if (which == "rethrown") caught_and_rethrown();
  if (which == "other") std::string().at(7);
  if (which == "none") std::terminate();
  if (which == "input uncaught") kit::make_folder("/dev/null/out");
  if (which == "input pool") parallel_for(2, 1, [](auto, auto) { fail_input("no file works"); });
  if (which == "thread") std::thread([] { train(); }).join();
  if (which == "debugger") stops();
}
