// Small shapes stretch to fit, and their gradients are summed back.
// Its chapter: docs/course/03_broadcasting/README.md
//
//   shapes are aligned at the right; an axis of size 1, or one that is missing, is repeated
//   y = a + b      da = sum_to(dy, shape of a)      db = sum_to(dy, shape of b)
//
// An element that is used n times has n influences on the loss. Its gradient is their sum: this is the whole
// backward of broadcasting.

#include <cstdio>
#include <iostream>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [sum_to]
/// Sums dy over every axis along which `shape` was repeated.
Tensor sum_to(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;
  while (dx.dim() > shape.size()) dx = dx.sum(0);  // an axis that was missing
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1) dx = dx.sum(axis, /*keepdim=*/true);  // an axis that was stretched
  return dx;
}
// [/sum_to]

std::string shape_of_sum(const Shape& a, const Shape& b) try {
  return to_string((zeros(a) + zeros(b)).shape());
} catch (const Error& error) {
  return error.what();
}

void rule() {
  const std::pair<Shape, Shape> pairs[] = {
      {{3, 4}, {4}}, {{3, 1}, {1, 4}}, {{2, 3, 4}, {3, 1}}, {{3, 4}, {}}, {{3, 4}, {3}}};
  for (const auto& [a, b] : pairs)
    std::printf("%9s + %-6s  ->  %s\n", to_string(a).c_str(), to_string(b).c_str(),
                shape_of_sum(a, b).c_str());
}

void forward() {
  // [forward]
  const Tensor row = tensor({{1.0, 2.0, 3.0, 4.0}});       // [1, 4]
  const Tensor column = tensor({{10.0}, {20.0}, {30.0}});  // [3, 1]
  const Tensor table = column + row;                       // [3, 4]
  const Tensor stretched = column.expand({3, 4});          // the addition's input
  // [/forward]
  std::cout << "\ncolumn + row =\n" << table << '\n';
  std::cout << "Nothing is copied: the column seen as " << stretched.shape() << " has strides "
            << stretched.strides() << ",\nand a stride of 0 reads the same element again.\n";
}

void backward() {
  manual_seed(0);
  // [backward]
  Tensor a = randn({3, 1}, f64).requires_grad_();
  Tensor b = randn({4}, f64).requires_grad_();
  Tensor y = a * b;                      // [3, 4]
  const Tensor dy = randn({3, 4}, f64);  // some gradient of the loss
  y.backward(dy);

  const Tensor da = sum_to(dy * b.detach(), a.shape());  // dy b, summed over the 4 columns
  const Tensor db = sum_to(dy * a.detach(), b.shape());  // dy a, summed over the 3 rows
  // [/backward]
  std::cout << "\ny = a * b with a " << a.shape() << " and b " << b.shape() << '\n';
  std::cout << "autograd's db  " << b.grad() << "\nsum_to(dy a)   " << db << '\n';
  std::cout << "equal: " << (allclose(da, a.grad()) && allclose(db, b.grad())) << '\n';
}

void bias_gradient() {
  // [bias]
  Tensor bias = zeros({3}).requires_grad_();
  const Tensor x = ones({2, 5, 3});  // [B, T, C]
  (x + bias).sum().backward();
  // [/bias]
  std::cout << "\nA bias [3] added to [2, 5, 3] is used 2 * 5 times: its gradient is " << bias.grad() << '\n';
}

void trap() {
  // [trap]
  const Tensor prediction = tensor({{1.0}, {2.0}, {3.0}});  // [3, 1], as a Linear(.., 1) gives it
  const Tensor target = tensor({1.0, 2.0, 3.0});            // [3], as a file gives it
  const Tensor silent = (prediction - target).square().mean();
  // [/trap]
  std::printf("\nPredictions 1 2 3 for targets 1 2 3 are perfect, yet by hand the mean square is %.4f:\n",
              silent.item());
  std::cout << "[3, 1] - [3] has shape " << (prediction - target).shape()
            << ". mse_loss does not broadcast:\n";
  try {
    mse_loss(prediction, target);
  } catch (const Error& error) {
    std::cout << "  " << error.what() << '\n';
  }
}

}  // namespace

int main() {
  std::cout << std::boolalpha;
  rule();
  forward();
  backward();
  bias_gradient();
  trap();
}
