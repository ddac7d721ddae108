struct Answer {
  Tensor (*sum_to)(const Tensor& dy, const Shape& shape);
  std::pair<Tensor, Tensor> (*times)(const Tensor& a, const Tensor& b, const Tensor& dy);
};
#define ANSWER(FROM) \
  { FROM::sum_to, FROM::times_backward }

CASE("equal shapes: nothing to sum", "Without repetition dy is passed on as it is.") {
  const Tensor dy = randn({2, 3});
  near("sum_to(dy, [2, 3])", answer.sum_to(dy, {2, 3}), dy);
}
CASE("an axis that was missing",
     "Missing axes are in front: sum over axis 0 until the number of axes agrees.") {
  near("sum_to(ones [5, 2, 3], [3])", answer.sum_to(ones({5, 2, 3}), {3}), full({3}, 10.0));
}
CASE("an axis that was stretched", "An axis of size 1 stays: sum(axis, true).") {
  near("sum_to(ones [2, 3], [2, 1])", answer.sum_to(ones({2, 3}), {2, 1}), full({2, 1}, 3.0));
  near("sum_to(ones [2, 3], [1, 3])", answer.sum_to(ones({2, 3}), {1, 3}), full({1, 3}, 2.0));
  near("sum_to(ones [2, 3], [1, 1])", answer.sum_to(ones({2, 3}), {1, 1}), full({1, 1}, 6.0));
}
CASE("missing and stretched at once",
     "Sum over the missing axes first: then the remaining axis i is axis i of the shape.") {
  const Tensor dy = randn({5, 2, 3});
  near("sum_to(dy [5, 2, 3], [2, 1])", answer.sum_to(dy, {2, 1}), dy.sum(0).sum(1, true));
}
CASE("down to one number", "In a shape without axes all axes are missing.") {
  near("sum_to(ones [2, 3], [])", answer.sum_to(ones({2, 3}), {}), tensor(6.0));
}
CASE("a product: each gets the other's value",
     "da = sum_to(dy b, ...): multiply by b at each place, before the sum.") {
  const Tensor a = randn({3, 1}), b = randn({4}), dy = randn({3, 4});
  const auto [da, db] = answer.times(a, b, dy);
  near("da", da, (dy * b).sum(1, true)), near("db", db, (dy * a).sum(0));
}
