struct Answer {
  Tensor (*pre)(const Tensor& x, const std::vector<Sublayer>& sublayers);
  Tensor (*post)(const Tensor& x, const std::vector<Sublayer>& sublayers);
};
#define ANSWER(FROM) \
  { FROM::pre_ln, FROM::post_ln }

namespace {
/// Counts the layer norms in a result, from the tape.
int norms(const Tensor& y) {
  const std::string tape = explain(y);
  int count = 0;
  for (std::size_t at = 0; (at = tape.find("layer_norm", at)) != std::string::npos; at += 5) ++count;
  return count;
}
Tensor recorded(const Shape& shape) { return randn(shape).requires_grad_(); }
const Sublayer kZero = [](const Tensor& x) { return x * 0; };
}  // namespace

CASE("Pre-LN: branches see a normalised token", "f gets LN(x), not x.") {
  Tensor seen;
  answer.pre(randn({2, 8}) * 50, {[&](const Tensor& x) { return seen = x; }});
  near("the mean square of what f sees", seen.square().mean().item(), 1, 1e-4);
}
CASE("Pre-LN: the shortcut is not normalised", "x + f(LN(x)): add f's result to x itself.") {
  const Tensor x = randn({2, 8}) * 50;
  Tensor second;
  answer.pre(x, {[](const Tensor& z) { return z * 0 + 1; }, [&](const Tensor& z) { return second = z; }});
  // After f = 1 for all channels the norm takes the 1 off again; with a normalised shortcut eps would act
  // twice.
  near("what the second sublayer sees", second, layer_norm(x + 1), 1e-12);
}
CASE("Pre-LN: a final norm", "After the last sublayer: return layer_norm(x).") {
  near("the mean square of y", answer.pre(randn({2, 8}) * 50, {kZero}).square().mean().item(), 1, 1e-4);
}
CASE("Post-LN: branches see the stream as it is", "f gets x: the norm comes after the addition.") {
  const Tensor x = randn({2, 8}) * 50;
  Tensor seen;
  answer.post(x, {[&](const Tensor& z) { return seen = z; }});
  near("what the first sublayer sees", seen, x);
}
CASE("Post-LN: the sum is normalised", "LN(x + f(x)): f's result is inside, and so is x.") {
  const Tensor x = randn({2, 8}), y = answer.post(x, {[](const Tensor&z) { return z * z; }});
  near("the mean square of y", y.square().mean().item(), 1, 1e-3);
}
CASE("Post-LN: no second final norm", "The last sublayer's norm is the final one: one norm a sublayer.") {
  near("the norms on the tape of two sublayers", norms(answer.post(recorded({2, 8}), {kZero, kZero})), 2);
}
