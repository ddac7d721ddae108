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

CASE("Pre-LN: branches see a normalized token", "f gets LN(x), not x.") {
  Tensor seen;
  answer.pre(randn({2, 8}) * 50, {[&](const Tensor& x) { return (seen = x).clone(); }});
  near("the mean square of what f sees", seen.square().mean().item(), 1, 1e-4);
}
CASE("Pre-LN: the shortcut is not normalized", "x + f(LN(x)): add f's result to x itself.") {
  const Tensor x = randn({2, 8}) * 50;
  Tensor second;
  const Tensor more = randn({2, 8});  // not the same for all channels: the norm would remove that again
  const Tensor want = layer_norm(x + more);  // before the answer can write into x
  answer.pre(x, {[&](const Tensor&) { return more.clone(); },
                 [&](const Tensor& z) { return (second = z).clone(); }});
  near("what the second sublayer sees", second, want);
}
CASE("Pre-LN: a final norm", "After the last sublayer: return layer_norm(x).") {
  near("the mean square of y", answer.pre(randn({2, 8}) * 50, {kZero}).square().mean().item(), 1, 1e-4);
}
CASE("Post-LN: branches see the stream as it is", "f gets x: the norm comes after the addition.") {
  const Tensor x = randn({2, 8}) * 50, before = x.clone();
  Tensor seen;
  answer.post(x, {[&](const Tensor& z) { return (seen = z.clone()).clone(); }});
  near("what the first sublayer sees", seen, before);
}
CASE("Post-LN: the sum is normalized", "LN(x + f(x)): f's result is inside, and so is x.") {
  const Tensor x = randn({2, 8}), more = randn({2, 8}), want = layer_norm(x + more);
  // A second final norm changes y by less than that.
  near("y", answer.post(x, {[&](const Tensor&) { return more.clone(); }}), want, 1e-3);
}
CASE("Post-LN: no second final norm", "The last sublayer's norm is the final one: one norm per sublayer.") {
  near("the norms on the tape of two sublayers", norms(answer.post(recorded({2, 8}), {kZero, kZero})), 2);
}
CASE("each sublayer reads the output of the previous one",
     "In every iteration f gets the current stream, not the first x.") {
  const Tensor x = randn({2, 8}), A = randn({8, 8}), B = randn({8, 8});
  const std::vector<Sublayer> two = {[&](const Tensor& z) { return matmul(z, A); },
                                     [&](const Tensor& z) { return matmul(z, B); }};
  const Tensor h = x + matmul(layer_norm(x), A), g = layer_norm(x + matmul(x, A));
  // Normalized once more: a missing or a second final norm is the mistake of another case.
  near("Pre-LN: y of two sublayers, normalized,", layer_norm(answer.pre(x.clone(), two)),
       layer_norm(h + matmul(layer_norm(h), B)), 1e-3);
  near("Post-LN: y of two sublayers, normalized,", layer_norm(answer.post(x.clone(), two)),
       layer_norm(g + matmul(g, B)), 1e-3);
}
CASE("the inputs are as before",
     "Tensor y = x is another handle of the same numbers, and y += ... writes into them, const or not. Write "
     "y = y + ..., or begin with x.clone().") {
  const Tensor x = randn({2, 8}), before = x.clone();
  const std::vector<Sublayer> two = {[](const Tensor& z) { return sin(2 * z); },
                                     [](const Tensor& z) { return sin(z); }};
  answer.pre(x, two), near("x after Pre-LN", x, before);
  answer.post(x, two), near("x after Post-LN", x, before);
}
CASE("the gradient reaches x", "Stay on the tape: no detach(), no values copied out.") {
  const std::vector<Sublayer> two = {[](const Tensor& z) { return sin(2 * z); },
                                     [](const Tensor& z) { return sin(z); }};
  gradients([&](const Tensor& x) { return answer.pre(x, two); }, {{2, 8}});
  gradients([&](const Tensor& x) { return answer.post(x, two); }, {{2, 8}});
}
