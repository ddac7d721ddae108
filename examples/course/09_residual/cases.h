struct Answer {
  Tensor (*stack)(const Tensor& x, const std::vector<Tensor>& A);
  Tensor (*jacobian)(const std::vector<Tensor>& A);
};
#define ANSWER(FROM) \
  { FROM::residual_stack, FROM::residual_jacobian }

CASE("branches of zero change nothing",
     "x + A x: the shortcut carries x itself. A x is matmul(A, x): A * x multiplies elements.") {
  const Tensor x = randn({3});
  near("x_L with all A_l = 0", answer.stack(x, {zeros({3, 3}), zeros({3, 3})}), x);
}
CASE("a branch reads the stream, not the first x", "Layer l gets the output of layer l - 1.") {
  const Tensor a = eye(2) * 0.5;
  near("x_2 with A_l = I / 2", answer.stack(ones({2}), {a, a}), full({2}, 2.25));
}
CASE("the Jacobian of branches of zero is I", "Every factor is I + A_l, and not A_l alone.") {
  near("the Jacobian", answer.jacobian({zeros({3, 3}), zeros({3, 3})}), eye(3));
}
CASE("the Jacobian is a product", "(I + A)(I + A) has the term A A, which 1 + sum lacks.") {
  const Tensor a = eye(2) * 0.5;
  near("the Jacobian of two layers with A_l = I / 2", answer.jacobian({a, a}), eye(2) * 2.25);
}
CASE("the last layer is the first factor", "Multiply each new factor from the left.") {
  const std::vector<Tensor> A = {tensor({{0.0, 1.0}, {0.0, 0.0}}), tensor({{0.0, 0.0}, {1.0, 0.0}})};
  near("element [1][1] of the Jacobian", answer.jacobian(A)[1][1].item(), 2);
}
CASE("the stack is its Jacobian times x", "A_l is multiplied from the left, and A_0 is applied first.") {
  const std::vector<Tensor> A = {randn({3, 3}), randn({3, 3}), randn({3, 3})};
  const Tensor x = randn({3}), J = matmul(eye(3) + A[2], matmul(eye(3) + A[1], eye(3) + A[0]));
  near("the Jacobian of three layers", answer.jacobian(A), J);
  const Tensor want = matmul(J, x);
  near("x_3", answer.stack(x, A), want);
}
CASE("the inputs are as before",
     "Tensor y = x is another handle of the same numbers, and y += ... writes into them, const or not. Write "
     "y = y + ..., or begin with x.clone().") {
  const Tensor x = randn({3}), before = x.clone(), a = randn({3, 3}), of_a = a.clone();
  answer.stack(x, {a, a}), answer.jacobian({a, a});
  near("x afterwards", x, before), near("A_0 afterwards", a, of_a);
}
