using Part = std::function<Tensor(const Tensor&)>;
struct Answer {
  Tensor (*sandwich)(const Tensor& x, const Part& f);
  Tensor (*b2t)(const Tensor& x, const Part& attention, const Part& ffn);
  bool (*mix)(int l, int L);
};
#define ANSWER(FROM) \
  { FROM::sandwich, FROM::b2t, FROM::mix_is_post }

CASE("sandwich: the branch sees a normalized token", "f(LN(x)).") {
  Tensor seen;
  const Tensor x = 9 * randn({2, 8}), want = layer_norm(x);  // before the answer can write into x
  answer.sandwich(x, [&](const Tensor& z) { return (seen = z).clone(); });
  near("what f sees", seen, want);
}
CASE("sandwich: the branch's output is normalized",
     "LN(f(...)): however large f is, the stream grows slowly.") {
  const Tensor x = randn({2, 8});
  near("the mean square of what is added",
       (answer.sandwich(x.clone(), [](const Tensor& z) { return 1000 * z; }) - x).square().mean().item(), 1,
       1e-3);
}
CASE("sandwich: no norm on the stream", "x itself is added: x + ..., not LN(x + ...).") {
  const Tensor x = 9 * randn({2, 8});
  near("with a branch of 0", answer.sandwich(x, [](const Tensor& z) { return z * 0; }), x);
}
CASE("B2T: the second sublayer reads y", "ffn(y), with y = LN(x + attention(x)).") {
  Tensor first, seen;
  const Tensor x = randn({2, 8}), more = randn({2, 8});
  answer.b2t(
      x.clone(), [&](const Tensor& z) { return first = z.clone(), more.clone(); },
      [&](const Tensor& z) { return (seen = z).clone(); });
  near("what attention sees", first, x);
  near("what ffn sees", seen, layer_norm(x + more));
}
CASE("B2T: the bottom reaches the top", "LN(x + y + ffn(y)): x once more, the block's input.") {
  const Tensor x = 5 * randn({2, 8}), more = randn({2, 8});
  near("z with ffn = 0",
       answer.b2t(
           x.clone(), [&](const Tensor&) { return more.clone(); }, [](const Tensor& z) { return z * 0; }),
       layer_norm(x + layer_norm(x + more)));
  near("z with a constant ffn",
       answer.b2t(
           x.clone(), [&](const Tensor&) { return more.clone(); }, [&](const Tensor&) { return 2 * more; }),
       layer_norm(x + layer_norm(x + more) + 2 * more));
}
CASE("Mix-LN: Post-LN comes first, a quarter of it", "l < L / 4, in integers.") {
  for (const int L : {3, 4, 10, 12, 19}) {
    int count = 0;
    for (int l = 0; l < L; ++l) count += answer.mix(l, L);
    near(phrase("the number of Post-LN layers of {0}", L), count, L / 4);
  }
  expect(answer.mix(0, 8) && !answer.mix(7, 8), "of 8 layers the first two are Post-LN, and the last is not");
}
CASE("the inputs are as before",
     "Tensor y = x is another handle of the same numbers, and y += ... writes into them, const or not. Write "
     "y = y + ..., or begin with x.clone().") {
  const Tensor x = randn({2, 8}), before = x.clone();
  const Part one = [](const Tensor&z) { return sin(2 * z); }, other = [](const Tensor&z) { return sin(z); };
  answer.sandwich(x, one), near("x after the sandwich", x, before);
  answer.b2t(x, one, other), near("x after B2T", x, before);
}
CASE("the gradient reaches x", "Stay on the tape: no detach(), no values copied out.") {
  const Part one = [](const Tensor&z) { return sin(2 * z); }, other = [](const Tensor&z) { return sin(z); };
  gradients([&](const Tensor& x) { return answer.sandwich(x, one); }, {{2, 8}});
  gradients([&](const Tensor& x) { return answer.b2t(x, one, other); }, {{2, 8}});
}
