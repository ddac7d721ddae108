struct Answer {
  Tensor (*loss)(const Tensor& logits, const Tensor& target);
  Tensor (*backward)(const Tensor& logits, const Tensor& target);
};
#define ANSWER(FROM) \
  { FROM::loss, FROM::loss_backward }

CASE("equal logits cost ln V", "ln is the natural logarithm: nats, not bits.") {
  near("the loss of 8 classes with equal logits", answer.loss(zeros({8, 8}), arange(8)).item(),
       std::log(8.0));
}
CASE("each row is an example", "Softmax over the classes: the last axis of [N, V].") {
  const Tensor z = tensor({{9.0, 0.0, 0.0}, {9.0, 0.0, 0.0}});
  near("the loss of two examples that are right", answer.loss(z, tensor({0, 0})).item(),
       std::log1p(2 * std::exp(-9.0)));
}
CASE("the target's probability counts", "The loss is -ln p[target], whatever the other probabilities are.") {
  const Tensor z = tensor({{3.0, 0.0, 1.0, -1.0, 2.0}});
  const double of_one = by_library([&] { return cross_entropy(z, tensor({4})).item(); });
  near("the loss of one row", answer.loss(z, tensor({4})).item(), of_one, 1e-8);
}
CASE("large logits do not overflow",
     "Subtract the largest logit of each row before exp. If that is done: -log(p) of a p that is rounded to "
     "0 is "
     "infinite, so compute ln p = z - ln sum exp(z) instead.") {
  near("the loss with a logit of 1000", answer.loss(tensor({{1000.0, 0.0}}), tensor({1})).item(), 1000);
  const Tensor z = tensor({{1000.0, 0.0}, {0.0, 0.0}}), target = tensor({1, 1});
  near("the loss of the rows [1000, 0] and [0, 0]", answer.loss(z, target).item(), 500 + std::log(2.0) / 2);
  near("its gradient", answer.backward(z, target), tensor({{0.5, -0.5}, {0.25, -0.25}}));
}
CASE("the loss is a mean", "Divide by the number of rows N.") {
  const Tensor z = tensor({{0.5, -1.0, 0.0, 2.0, 1.0}}), target = tensor({3});
  near("the loss of the same row four times", answer.loss(z.expand({4, 5}), target.expand({4})).item(),
       answer.loss(z, target).item());
}
CASE("the backward is the gradient", "p minus 1 at the target, and the mean divides by N.") {
  const Tensor target = tensor({1, 0, 3});
  backward_of([&](const Tensor& z) { return by_library([&] { return cross_entropy(z, target); }); },
              [&](const Tensor& z, const Tensor& dy) { return answer.backward(z, target) * dy; }, {{3, 4}});
}
CASE("the gradient reaches the logits", "Stay on the tape: no detach(), no values copied out.") {
  const Tensor target = tensor({1, 0, 3});
  gradients([&](const Tensor& z) { return answer.loss(z, target); }, {{3, 4}});
}
