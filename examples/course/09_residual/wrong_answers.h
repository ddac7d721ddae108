namespace sum_for_product {
using solution::residual_stack;
Tensor residual_jacobian(const std::vector<Tensor>& A) {
  Tensor J = eye(A[0].size(0));
  for (const Tensor& a : A) J = J + a;
  return J;
}
}  // namespace sum_for_product
MUTANT(sum_for_product, "the Jacobian is a product", "the last layer is the first factor",
       "the stack is its Jacobian times x")

namespace factors_in_the_wrong_order {
using solution::residual_stack;
Tensor residual_jacobian(const std::vector<Tensor>& A) {
  return solution::residual_jacobian({A.rbegin(), A.rend()});
}
}  // namespace factors_in_the_wrong_order
MUTANT(factors_in_the_wrong_order, "the last layer is the first factor", "the stack is its Jacobian times x")

namespace jacobian_without_shortcut {
using solution::residual_stack;
Tensor residual_jacobian(const std::vector<Tensor>& A) {
  Tensor J = eye(A[0].size(0));
  for (const Tensor& a : A) J = matmul(a, J);
  return J;
}
}  // namespace jacobian_without_shortcut
MUTANT(jacobian_without_shortcut, "the Jacobian of branches of zero is I", "the Jacobian is a product",
       "the last layer is the first factor", "the stack is its Jacobian times x")

namespace no_shortcut {
using solution::residual_jacobian;
Tensor residual_stack(const Tensor& x, const std::vector<Tensor>& A) {
  Tensor y = x;
  for (const Tensor& a : A) y = matmul(a, y);
  return y;
}
}  // namespace no_shortcut
MUTANT(no_shortcut, "branches of zero change nothing", "a branch reads the stream, not the first x",
       "the stack is its Jacobian times x")

namespace branches_read_the_input {
using solution::residual_jacobian;
Tensor residual_stack(const Tensor& x, const std::vector<Tensor>& A) {
  Tensor y = x;
  for (const Tensor& a : A) y = y + matmul(a, x);
  return y;
}
}  // namespace branches_read_the_input
MUTANT(branches_read_the_input, "a branch reads the stream, not the first x",
       "the stack is its Jacobian times x")

namespace jacobian_transposed {
using solution::residual_stack;
Tensor residual_jacobian(const std::vector<Tensor>& A) { return solution::residual_jacobian(A).t(); }
}  // namespace jacobian_transposed
MUTANT(jacobian_transposed, "the stack is its Jacobian times x")

namespace x_on_the_left {
using solution::residual_jacobian;
Tensor residual_stack(const Tensor& x, const std::vector<Tensor>& A) {
  Tensor y = x;
  for (const Tensor& a : A) y = y + matmul(y, a);
  return y;
}
}  // namespace x_on_the_left
MUTANT(x_on_the_left, "the stack is its Jacobian times x")

namespace stack_from_the_last_layer {
using solution::residual_jacobian;
Tensor residual_stack(const Tensor& x, const std::vector<Tensor>& A) {
  return solution::residual_stack(x, {A.rbegin(), A.rend()});
}
}  // namespace stack_from_the_last_layer
MUTANT(stack_from_the_last_layer, "the stack is its Jacobian times x")

namespace writes_into_x {
using solution::residual_jacobian;
Tensor residual_stack(const Tensor& x, const std::vector<Tensor>& A) {
  Tensor y = x;
  for (const Tensor& a : A) y += matmul(a, y);
  return y;
}
}  // namespace writes_into_x
MUTANT(writes_into_x, "the inputs are as before")

namespace elements_multiplied {
using solution::residual_jacobian;
Tensor residual_stack(const Tensor& x, const std::vector<Tensor>& A) {
  Tensor y = x;
  for (const Tensor& a : A) y = y + a * y;
  return y;
}
}  // namespace elements_multiplied
MUTANT(elements_multiplied, "branches of zero change nothing", "a branch reads the stream, not the first x",
       "the stack is its Jacobian times x")
