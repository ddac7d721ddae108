struct Answer {
  Tensor (*attend)(const Tensor& x, const Tensor& memory, const Tensor& padding, const Tensor& wq,
                   const Tensor& wk, const Tensor& wv, std::int64_t H);
  Tensor (*input)(const Tensor& target, std::int64_t start);
};
#define ANSWER(FROM) \
  { FROM::cross_attention, FROM::decoder_input }

namespace {
/// True after the first `lengths` tokens of each sentence: [B, S].
Tensor padding_after(const std::vector<std::int64_t>& lengths, std::int64_t S) {
  return arange(S) >= from_vector(lengths).unsqueeze(1);
}

/// Random tokens and matrices, as many positions in x as in memory.
struct Inputs {
  Tensor x = randn({2, 5, 8}), memory = randn({2, 5, 8}), none = zeros({2, 5}, boolean);
  Tensor wq = randn({8, 8}) / 2, wk = randn({8, 8}) / 2, wv = randn({8, 8}) / 2;

  Tensor output(const Answer& answer, const Tensor& of, const Tensor& over, const Tensor& padding,
                std::int64_t H = 2) const {
    return answer.attend(of, over, padding, wq, wk, wv, H);
  }
};
}  // namespace

CASE("a row for each query, however long memory is", "The scores have the shape [B, H, T, S].") {
  const Inputs in;
  const Tensor y = in.output(answer, randn({2, 3, 8}), in.memory, in.none);
  expect(y.shape() == Shape{2, 3, 8}, phrase("for x {0} and memory {1} the output has the shape {2}",
                                             "[2, 3, 8]", "[2, 5, 8]", to_string(y.shape())));
}
CASE("the values come from memory", "v is matmul(memory, wv), and the weights of a query sum to 1.") {
  const Inputs in;
  const Tensor alike = in.memory.slice(1, 0, 1).expand({2, 5, 8}).contiguous();
  near("where all rows of memory are alike, the output", in.output(answer, in.x, alike, in.none, 1),
       matmul(alike, in.wv));
}
CASE("the keys come from memory", "k is matmul(memory, wk): a query searches the source.") {
  const Tensor x = full({1, 2, 4}, 30.0), w = eye(4), memory = stack({ones({4}), zeros({4})}).unsqueeze(0);
  near("of products 120 and 0, the output", answer.attend(x, memory, zeros({1, 2}, boolean), w, w, w, 1),
       ones({1, 2, 4}));
}
CASE("the queries come from x", "q is matmul(x, wq): row t of the output belongs to row t of x.") {
  const Inputs in;
  const Tensor other = in.x.clone();
  other.select(1, 2) += 1.0;
  const Tensor change =
      (in.output(answer, other, in.memory, in.none) - in.output(answer, in.x, in.memory, in.none))
          .abs()
          .max({0, 2});
  near("when x changes at position 2 alone, the change of the output at positions 0 and 1",
       change.slice(0, 0, 2), zeros({2}));
  expect(change[2].item() > 1e-6, "x changes at position 2, but the output there does not");
}
CASE("the scores are divided by sqrt(D)", "D is the number of channels of one head: q.size(-1).") {
  const Tensor x = ones({1, 1, 8}), w = eye(8), zero = zeros({8});
  const Tensor memory = stack({ones({8}), zero, zero}).unsqueeze(0);
  near("of products 4, 0 and 0 in each head, divided by 2, the output",
       answer.attend(x, memory, zeros({1, 3}, boolean), w, w, w, 2),
       full({1, 1, 8}, std::exp(2.0) / (std::exp(2.0) + 2)));
}
CASE("each head has its own weights", "Split q, k and v into [B, H, T or S, D] before the scores.") {
  const Tensor x = full({1, 2, 8}, 30.0), w = eye(8), one = ones({4}), zero = zeros({4});
  const Tensor memory = stack({cat({one, zero}), cat({zero, one})}).unsqueeze(0);
  const Tensor y = answer.attend(x, memory, zeros({1, 2}, boolean), w, w, w, 2);
  near("of products 120 and 0 in head 0, 0 and 120 in head 1, the output of the last query",
       y.select(1, -1).squeeze(0), ones({8}));
}
CASE("heads are side by side", "Transpose [B, H, T, D] to [B, T, H, D] before the last reshape.") {
  const Tensor w = eye(8), row = cat({full({4}, 1.0), full({4}, 2.0)}), memory = row.expand({1, 5, 8});
  near("of values 1 in head 0 and 2 in head 1, the output",
       answer.attend(zeros({1, 3, 8}), memory.contiguous(), zeros({1, 5}, boolean), w, w, w, 2),
       row.expand({1, 3, 8}));
}
CASE("every position sees the whole source", "There is no causal mask here: the source is known.") {
  const Inputs in;
  const Tensor other = in.memory.clone();
  other.select(1, 4) += 1.0;
  const Tensor change =
      (in.output(answer, in.x, other, in.none) - in.output(answer, in.x, in.memory, in.none))
          .abs()
          .max({0, 2});
  expect(change.min().item() > 1e-9, "the last token of memory does not reach all positions of the output");
}
CASE("padding is not seen", "Scores of padding are -infinity, before the softmax.") {
  const Inputs in;
  const Tensor padding = padding_after({3, 3}, 5), other = in.memory.clone();
  other.slice(1, 3, 5) += 1.0;
  near("when the padded rows of memory change, the output", in.output(answer, in.x, other, padding),
       in.output(answer, in.x, in.memory, padding));
}
CASE("padding is hidden, however low the other scores are",
     "Set scores of padding to -infinity: next to scores of -1,000,000 a -100 is the largest.") {
  const Tensor x = ones({1, 2, 2}), memory = tensor({{{1.0, 1.0}, {1.0, 2.0}, {1.0, 4.0}}});
  const Tensor wq = full({2, 2}, -1e6), wk = tensor({{1.0, 1.0}, {0.0, 0.0}}), wv = 1 - wk;
  near("with all scores near -1,000,000 and the last of three tokens padding, the output",
       answer.attend(x, memory, padding_after({2}, 3), wq, wk, wv, 1), full({1, 2, 2}, 1.5));
}
CASE("the weights of the tokens sum to 1", "Hide padding before the softmax; afterwards it is too late.") {
  const Inputs in;
  const Tensor padding = padding_after({3, 3}, 5);
  const Tensor alike = in.memory.slice(1, 0, 1).expand({2, 5, 8}).contiguous();
  near("where all rows of memory are alike and two are padding, the output",
       in.output(answer, in.x, alike, padding), matmul(alike, in.wv));
}
CASE("each sentence has its own padding", "padding [B, S] becomes [B, 1, 1, S]: its batch axis stays.") {
  const Inputs in;
  const Tensor together = in.output(answer, in.x, in.memory, padding_after({5, 3}, 5));
  const Tensor alone =
      in.output(answer, in.x.slice(0, 1, 2), in.memory.slice(0, 1, 2), padding_after({3}, 5));
  near("the output for the second sentence, in a batch,", together.slice(0, 1, 2), alone);
}
CASE("the gradient reaches x, memory and the matrices",
     "Stay on the tape: the encoder learns through memory.") {
  const Tensor padding = padding_after({2, 3}, 3);
  gradients([&](const Tensor& x, const Tensor& memory,
                const Tensor& w) { return answer.attend(x, memory, padding, w, w, w, 2); },
            {{2, 2, 4}, {2, 3, 4}, {4, 4}});
}
CASE("the decoder reads what comes before its target", "start, then all columns of target except the last.") {
  const Tensor target = randint(3, 9, {2, 5});
  for (const std::int64_t start : {1, 2})
    near("of a random target, the decoder's input", answer.input(target, start).to(f64),
         cat({full({2, 1}, start, i64), target.slice(1, 0, 4)}, 1).to(f64));
}
