struct Answer {
  Tensor (*probabilities)(const Tensor& logits, double temperature, std::int64_t k, double p);
  std::vector<Beam> (*step)(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t width);
};
#define ANSWER(FROM) \
  { FROM::probabilities, FROM::beam_step }

namespace {
/// Logits of probabilities 0.1, 0.4, 0.05, 0.3, 0.15: no order, and their sum is not 0.
Tensor five() { return log(tensor({0.1, 0.4, 0.05, 0.3, 0.15})) + 2.0; }
Tensor above_0(const Tensor& p) { return (p > 0).to(f64); }
/// "1 0 (-0.5), 2 (-1)": the tokens and the log p of each text.
std::string text(const std::vector<Beam>& beams) {
  std::string all;
  for (const Beam& beam : beams) {
    all += all.empty() ? "" : ", ";
    for (const std::int64_t token : beam.tokens) all += std::to_string(token) + " ";
    all += "(" + std::to_string(beam.log_p) + ")";
  }
  return all.empty() ? phrase("none") : all;
}
void same(const std::vector<Beam>& got, const std::vector<Beam>& want) {
  bool equal = got.size() == want.size();
  for (std::size_t i = 0; equal && i < got.size(); ++i)
    equal = got[i].tokens == want[i].tokens && std::abs(got[i].log_p - want[i].log_p) < 1e-9;
  expect(equal, phrase("the texts are {0}; expected {1}", text(got), text(want)));
}
}  // namespace

CASE("each token has its own probability", "topk gives an order: scatter the result back to the tokens.") {
  near("of logits in no order, the probabilities", answer.probabilities(five(), 1, 0, 1),
       tensor({0.1, 0.4, 0.05, 0.3, 0.15}));
}
CASE("what is left adds up to 1", "Divide by the sum of what is left.") {
  near("the sum with k = 2", answer.probabilities(five(), 1, 2, 1).sum().item(), 1);
  near("the sum with p = 0.65", answer.probabilities(five(), 1, 0, 0.65).sum().item(), 1);
}
CASE("the temperature divides the logits", "Below 1 it makes the likeliest token likelier.") {
  near("p for logits 0 and 1, temperature 0.5", answer.probabilities(tensor({0.0, 1.0}), 0.5, 0, 1)[1].item(),
       1 / (1 + std::exp(-2.0)));
}
CASE("the token that crosses p stays", "0.4 is below 0.6, 0.4 + 0.3 is the first sum that reaches it.") {
  near("where probabilities are above 0, p = 0.6,", above_0(answer.probabilities(five(), 1, 0, 0.6)),
       tensor({0.0, 1.0, 0.0, 1.0, 0.0}));
}
CASE("one token always stays", "The likeliest token alone reaches a small p.") {
  near("the probabilities for p = 0.1", answer.probabilities(five(), 1, 0, 0.1),
       tensor({0.0, 1.0, 0.0, 0.0, 0.0}));
}
CASE("where the sum is p, no token follows", "A sum that equals p has reached it.") {
  near("the number of four equal tokens left by p = 0.5",
       above_0(answer.probabilities(zeros({4}), 1, 0, 0.5)).sum().item(), 2);
  near("where probabilities are above 0, p = 0.5,", above_0(answer.probabilities(zeros({4}), 1, 0, 0.5)),
       tensor({1.0, 1.0, 0.0, 0.0}));
}
CASE("top-p sees the temperature", "The sums are those of the probabilities at this temperature.") {
  near("where probabilities are above 0, temperature 2 and p = 0.8,",
       above_0(answer.probabilities(five(), 2, 0, 0.8)), tensor({1.0, 1.0, 0.0, 1.0, 1.0}));
}
CASE("top-p sees what top-k leaves", "Of three tokens, 0.4 and 0.3 are 0.7 / 0.85 = 0.82 of the whole.") {
  near("where probabilities are above 0, k = 3 and p = 0.8,",
       above_0(answer.probabilities(five(), 1, 3, 0.8)), tensor({0.0, 1.0, 0.0, 1.0, 0.0}));
}
CASE("k tokens stay, also of equal ones",
     "Select k positions: comparing with the k-th logit keeps its equals.") {
  near("of logits 0, 1, 1, 1 and k = 2, the probabilities",
       answer.probabilities(tensor({0.0, 1.0, 1.0, 1.0}), 1, 2, 1), tensor({0.0, 0.5, 0.5, 0.0}));
}
CASE("a small temperature does not overflow", "Softmax subtracts the largest logit before exp.") {
  near("of logits 1, 3, 2 at temperature 0.001, the probabilities",
       answer.probabilities(tensor({1.0, 3.0, 2.0}), 0.001, 0, 1), tensor({0.0, 1.0, 0.0}));
}
CASE("temperature 0 is a limit",
     "The largest logit gets all; equal ones share it evenly. No division by 0.") {
  near("of logits 1, 3, 2, the probabilities", answer.probabilities(tensor({1.0, 3.0, 2.0}), 0, 0, 1),
       tensor({0.0, 1.0, 0.0}));
  near("of logits 2, 0, 2, the probabilities", answer.probabilities(tensor({2.0, 0.0, 2.0}), 0, 0, 1),
       tensor({0.5, 0.0, 0.5}));
  near("of logits 2, 0, 2 and k = 1, the probabilities",
       answer.probabilities(tensor({2.0, 0.0, 2.0}), 0, 1, 1), tensor({1.0, 0.0, 0.0}));
}
CASE("an excluded token stays excluded", "A logit of -infinity means 0: it may not become NaN or 1.") {
  near("of logits 0, -infinity, 0, -1 and k = 2, the probabilities",
       answer.probabilities(tensor({0.0, -INFINITY, 0.0, -1.0}), 1, 2, 1), tensor({0.5, 0.0, 0.5, 0.0}));
}

CASE("log-probabilities add up", "The log p of a text is the sum over all its tokens.") {
  same(answer.step({{{3}, -1.0}, {{4}, -3.0}}, tensor({{-3.0, -4.0}, {-0.25, -2.0}}), 2),
       {{{4, 0}, -3.25}, {{3, 0}, -4.0}});
}
CASE("all texts compete", "Two texts may extend the same beam, and none another one.") {
  same(answer.step({{{3}, -1.0}, {{4}, -3.0}}, tensor({{-0.5, -1.0}, {-0.25, -2.0}}), 2),
       {{{3, 0}, -1.5}, {{3, 1}, -2.0}});
}
CASE("one beam becomes several", "The width is an argument: the first step begins with a single beam.") {
  same(answer.step({{{}, 0.0}}, tensor({{-2.0, -0.5, -1.0}}), 2), {{{1}, -0.5}, {{2}, -1.0}});
}
CASE("a text begins with its own beam", "Copy the tokens of the beam that is extended.") {
  same(answer.step({{{5, 6}, -2.0}, {{7, 8}, -2.5}}, tensor({{-4.0, -5.0}, {-1.0, -0.5}}), 2),
       {{{7, 8, 1}, -3.0}, {{7, 8, 0}, -3.5}});
}
CASE("a text of probability 0 is none",
     "Leave out a log p of -infinity, even if there are fewer than `width`.") {
  same(answer.step({{{2}, -1.0}}, tensor({{-INFINITY, -0.5, -INFINITY}}), 3), {{{2, 1}, -1.5}});
}
CASE("equal texts keep their order", "Of equal ones the earlier beam is first, then the lower token.") {
  same(answer.step({{{0}, -1.0}, {{1}, -2.0}}, tensor({{-2.0, -2.0}, {-1.0, -1.0}}), 3),
       {{{0, 0}, -3.0}, {{0, 1}, -3.0}, {{1, 0}, -3.0}});
  // Of so many, std::sort does not keep the order.
  same(answer.step({{{7}, -1.0}, {{8}, -1.0}}, full({2, 50}, -2.0), 3),
       {{{7, 0}, -3.0}, {{7, 1}, -3.0}, {{7, 2}, -3.0}});
}
