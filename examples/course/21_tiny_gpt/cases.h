using Ids = std::vector<std::int64_t>;
struct Answer {
  Tensor (*top_k)(const Tensor& logits, std::int64_t k, double temperature);
  Ids (*generate)(const std::function<Tensor(const Ids&)>& model, const Ids& prompt, int steps,
                  std::size_t context);
};
#define ANSWER(FROM) \
  { FROM::top_k, FROM::generate }

namespace {
/// After token t comes t + 1, of ten.
Tensor counting(const Ids& tokens) { return one_hot(tensor((tokens.back() + 1) % 10), 10).to(f64); }
std::string text(const Ids& ids) {
  std::string all;
  for (const std::int64_t id : ids) all += (all.empty() ? "" : " ") + std::to_string(id);
  return all;
}
}  // namespace

CASE("probabilities sum to 1", "Softmax after the small logits are removed.") {
  near("the sum", answer.top_k(tensor({1.0, 3.0, 2.0, 0.0}), 2, 1).sum().item(), 1);
}
CASE("k tokens remain", "Logits below the k-th largest become -infinity, before the softmax.") {
  const Tensor logits = tensor({1.0, 3.0, 2.0, 0.0}), rank = tensor({3.0, 1.0, 2.0, 4.0});
  for (const int k : {1, 2, 3})
    for (const double temperature : {0.5, 1.0, 2.0})
      near(phrase("where p is above 0, k = {0},", k),
           (answer.top_k(logits.clone(), k, temperature) > 0).to(f64), (rank < k + 0.5).to(f64));
}
CASE("a low temperature sharpens", "Divide the logits by the temperature.") {
  near("p of the largest of logits 0 and 1, temperature 0.5",
       answer.top_k(tensor({0.0, 1.0}), 2, 0.5)[1].item(), 1 / (1 + std::exp(-2.0)));
}
CASE("the logits are as before",
     "Tensor z = logits is another handle of the same numbers, and z[mask] = ... or z /= ... writes into "
     "them, "
     "const or not. Begin with logits.clone(), or use masked_fill, which gives a new tensor.") {
  const Tensor logits = tensor({1.0, 3.0, 2.0, 0.0}), before = logits.clone();
  answer.top_k(logits, 2, 0.5);
  near("the logits afterwards", logits, before);
}
CASE("the prompt comes first", "Return the prompt and the new tokens.") {
  for (const int steps : {0, 3}) {
    const Ids ids = answer.generate(counting, {4, 5}, steps, 8),
              want = steps ? Ids{4, 5, 6, 7, 8} : Ids{4, 5};
    expect(ids == want,
           phrase("after {0} steps the tokens are {1}, and not {2}", steps, text(ids), text(want)));
  }
}
CASE("the model sees what it wrote", "Append each token before you ask for the next.") {
  const Ids ids = answer.generate(
      [](const Ids& t) { return counting({static_cast<std::int64_t>(t.size())}); }, {7}, 3, 8);
  expect(!ids.empty() && ids.back() == 4,
         "with 3 tokens there the model answers 4; the last token is another");
}
CASE("the context is the last tokens", "If there are more tokens than fit, the first ones are dropped.") {
  std::size_t most = 0;
  Ids last;
  const Ids ids = answer.generate(
      [&](const Ids& t) {
        most = std::max(most, t.size());
        last = t;
        return counting(t);
      },
      {1, 2, 3}, 4, 3);
  expect(most <= 3, phrase("the model gets {0} tokens, its context is 3", most));
  expect(last == Ids{4, 5, 6},
         phrase("in the last step the model gets {0}, and not {1}", text(last), "4 5 6"));
  expect(!ids.empty() && ids.back() == 7,
         phrase("the tokens are {0}, and not {1}", text(ids), "1 2 3 4 5 6 7"));
  most = 0;
  answer.generate(
      [&](const Ids& t) {
        most = std::max(most, t.size());
        return counting(t);
      },
      {1, 2, 3, 4, 5}, 2, 3);
  expect(most <= 3, phrase("the model gets {0} tokens, its context is 3", most));
}
