struct Answer {
  Measured (*measure)(const std::vector<Block>& blocks, const Tensor& x, bool pre, const Loss& loss);
  bool (*lemma_2)(const std::vector<double>& sizes);
  double (*exponent)(const std::vector<double>& L, const std::vector<double>& y);
};
#define ANSWER(FROM) \
  { FROM::measure, FROM::lemma_2, FROM::exponent }

namespace {
std::vector<Block> stack_of(int L, std::int64_t d) {
  std::vector<Block> blocks;
  for (int l = 0; l < L; ++l) blocks.emplace_back(d);
  return blocks;
}
/// A loss at one position, with random weights.
Loss at_one_position(std::int64_t d) {
  const Tensor w = randn({d});
  return [w](const Tensor& y) { return (y[0] * w).sum(); };
}
Tensor after(const Block& b, const Tensor& x, bool pre) {  // before the norm that ends a Post-LN block
  const Tensor h = pre ? x + b.attention(layer_norm(x)) : layer_norm(x + b.attention(x));
  return h + b.ffn(pre ? layer_norm(h) : h);
}
double size(const Tensor& x) { return x.square().mean().item(); }
}  // namespace

CASE("Pre-LN: sizes after each block",
     "The stream after the FFN's addition: |x|^2 / d is x.square().mean().") {
  const std::vector<Block> blocks = stack_of(2, 8);
  const Tensor x = randn({3, 8}), first = after(blocks[0], x, true);
  near("the sizes of two blocks", answer.measure(blocks, x.clone(), true, at_one_position(8)).sizes,
       std::vector<double>{size(first), size(after(blocks[1], first, true))});
}
CASE("Post-LN: sizes before the norm", "After the norm that ends a block the size is always 1.") {
  const std::vector<Block> blocks = stack_of(2, 8);
  const Tensor x = randn({3, 8}), first = after(blocks[0], x, false);
  near("the sizes of two blocks", answer.measure(blocks, x.clone(), false, at_one_position(8)).sizes,
       std::vector<double>{size(first), size(after(blocks[1], layer_norm(first), false))});
}
CASE("the gradient is a norm", "The root of the sum of squares over all elements of dL/dW2: norm().") {
  const std::vector<Block> blocks = stack_of(1, 8);
  const Loss loss = at_one_position(8);
  const Tensor x = randn({3, 8});
  near("|dL/dW2| of a single block, which is the first and the last,",
       answer.measure(blocks, x.clone(), false, loss).gradient,
       grad(loss(layer_norm(after(blocks[0], x, false))), {blocks[0].W2})[0].norm().item());
}
CASE("the gradient is that of the last block", "Theorem 1 is about blocks.back().W2.") {
  const std::vector<Block> blocks = stack_of(3, 8);
  const Loss loss = at_one_position(8);
  const Tensor x = randn({3, 8});
  const Tensor y =
      after(blocks[2], layer_norm(after(blocks[1], layer_norm(after(blocks[0], x, false)), false)), false);
  near("|dL/dW2| of the last of 3 Post-LN blocks", answer.measure(blocks, x.clone(), false, loss).gradient,
       grad(loss(layer_norm(y)), {blocks[2].W2})[0].norm().item());
}
CASE("a second measurement is like the first",
     "backward() adds to W2.grad(); grad() returns a new gradient.") {
  const std::vector<Block> blocks = stack_of(1, 8);
  const Loss loss = at_one_position(8);
  const Tensor x = randn({3, 8});
  const double once = answer.measure(blocks, x.clone(), true, loss).gradient;
  near("|dL/dW2| of the same stack, measured again,", answer.measure(blocks, x.clone(), true, loss).gradient,
       once);
}
CASE("Pre-LN: the final norm divides the gradient",
     "A Pre-LN stack ends with a norm: the longer the stream, the smaller the gradient.") {
  std::vector<Block> blocks = stack_of(2, 8);
  for (Block& block : blocks) block.O = zeros({8, 8}), block.W2 = zeros({8, 8}).requires_grad_();
  const Loss loss = at_one_position(8);
  const Tensor x = 10 * randn({3, 8});
  const double before = answer.measure(blocks, x.clone(), true, loss).gradient;
  for (Block& block : blocks) block.W2 = zeros({8, 8}).requires_grad_();  // that gradient may be in W2.grad()
  near("with a stream that is ten times as long, the gradient over the one before",
       answer.measure(blocks, 10 * x, true, loss).gradient / before, 0.1, 1e-4);
}
CASE("the inputs are as before",
     "Tensor y = x is another handle of the same numbers, and y += ... writes into them, const or not. Write "
     "y = y + ..., or begin with x.clone().") {
  const std::vector<Block> blocks = stack_of(2, 8);
  const Tensor x = randn({3, 8}), before = x.clone();
  answer.measure(blocks, x, true, at_one_position(8)), near("x after Pre-LN", x, before);
  answer.measure(blocks, x, false, at_one_position(8)), near("x after Post-LN", x, before);
}
CASE("Lemma 2: the bounds of each block",
     "The first size is that of block 1: between 1.5 and 2.5. A quotient of two integers is cut to an "
     "integer: "
     "1 / 2 is 0, and l / 2.0 is not cut.") {
  expect(answer.lemma_2({1.6, 2.1, 2.6}), "1.6, 2.1 and 2.6 are within the bounds");
  expect(answer.lemma_2({2.4, 3.9, 5.4}), "2.4, 3.9 and 5.4 are within the bounds");
  expect(!answer.lemma_2({1.4}), "1.4 is below the first lower bound");
  expect(!answer.lemma_2({2.6}), "2.6 is above the first upper bound");
}
CASE("Lemma 2 grows linearly with the block", "1 + l/2 and 1 + 3l/2: no power of l.") {
  expect(!answer.lemma_2({2, 5}), "5 is above the second upper bound, 4");
  expect(!answer.lemma_2({2, 2, 3, 4, 4, 5, 6, 4.9}), "4.9 is below the eighth lower bound, 5");
  expect(answer.lemma_2({2, 2, 3, 4, 4, 5, 6, 12.9}), "12.9 is below the eighth upper bound, 13");
}
CASE("Lemma 2: every block counts", "One size beyond its bounds contradicts the lemma.") {
  expect(!answer.lemma_2({2, 9, 5}), "the second of three sizes is above its bound");
  expect(!answer.lemma_2({1, 2.5, 4}), "the first of three sizes is below its bound");
}
CASE("1 / sqrt(L) has the exponent -1/2", "The slope of ln y over ln L.") {
  near("p", answer.exponent({4, 16, 64}, {6, 3, 1.5}), -0.5);
}
CASE("the constant does not matter", "Subtract both means.") {
  near("the exponent p of 100 L", answer.exponent({2, 4, 8}, {200, 400, 800}), 1);
}
CASE("all points count", "Least squares, not the first and the last point.") {
  near("p with a bend in the middle", answer.exponent({1, 2, 4, 8}, {1, 4, 4, 8}), 0.9);
}
