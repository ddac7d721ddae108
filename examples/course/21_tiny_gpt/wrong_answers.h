namespace not_normalised_again {
using solution::generate;
Tensor top_k(const Tensor& logits, std::int64_t k, double temperature) {
  return softmax(logits / temperature, 0) * (solution::top_k(logits, k, 1) > 0).to(f64);
}
}  // namespace not_normalised_again
MUTANT(not_normalised_again, "probabilities sum to 1")

namespace one_too_many {
using solution::generate;
Tensor top_k(const Tensor& logits, std::int64_t k, double temperature) {
  return solution::top_k(logits, std::min(k + 1, logits.numel()), temperature);
}
}  // namespace one_too_many
MUTANT(one_too_many, "k tokens remain")

namespace times_temperature {
using solution::generate;
Tensor top_k(const Tensor& logits, std::int64_t k, double temperature) {
  return solution::top_k(logits, k, 1 / temperature);
}
}  // namespace times_temperature
MUTANT(times_temperature, "a low temperature sharpens")

namespace first_tokens_kept {
using solution::top_k;
Ids generate(const std::function<Tensor(const Ids&)>& model, const Ids& prompt, int steps,
             std::size_t context) {
  return solution::generate(
      [&](const Ids& t) {
        return model(Ids(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(std::min(context, t.size()))));
      },
      prompt, steps, 100);
}
}  // namespace first_tokens_kept
MUTANT(first_tokens_kept, "the context is the last tokens")

namespace context_ignored {
using solution::top_k;
Ids generate(const std::function<Tensor(const Ids&)>& model, const Ids& prompt, int steps, std::size_t) {
  return solution::generate(model, prompt, steps, 100);
}
}  // namespace context_ignored
MUTANT(context_ignored, "the context is the last tokens")

namespace always_the_prompt {
using solution::top_k;
Ids generate(const std::function<Tensor(const Ids&)>& model, const Ids& prompt, int steps,
             std::size_t context) {
  return solution::generate([&](const Ids&) { return model(prompt); }, prompt, steps, context);
}
}  // namespace always_the_prompt
MUTANT(always_the_prompt, "the model sees what it wrote", "the prompt comes first",
       "the context is the last tokens")

namespace prompt_left_out {
using solution::top_k;
Ids generate(const std::function<Tensor(const Ids&)>& model, const Ids& prompt, int steps,
             std::size_t context) {
  const Ids all = solution::generate(model, prompt, steps, context);
  return {all.begin() + static_cast<std::ptrdiff_t>(prompt.size()), all.end()};
}
}  // namespace prompt_left_out
MUTANT(prompt_left_out, "the prompt comes first")

namespace at_least_one_step {
using solution::top_k;
Ids generate(const std::function<Tensor(const Ids&)>& model, const Ids& prompt, int steps,
             std::size_t context) {
  return solution::generate(model, prompt, std::max(1, steps), context);
}
}  // namespace at_least_one_step
MUTANT(at_least_one_step, "the prompt comes first")

namespace two_stay {
using solution::generate;
Tensor top_k(const Tensor& logits, std::int64_t, double temperature) {
  return solution::top_k(logits, 2, temperature);
}
}  // namespace two_stay
MUTANT(two_stay, "k tokens remain")

namespace limit_of_other_logits {
using solution::generate;
Tensor top_k(const Tensor& logits, std::int64_t k, double temperature) {
  const Tensor z = logits / temperature;
  return softmax(masked_fill(z, z < topk(logits, k).first[k - 1].item(), -INFINITY), 0);
}
}  // namespace limit_of_other_logits
MUTANT(limit_of_other_logits, "k tokens remain")

namespace one_token_once_it_is_full {
using solution::top_k;
Ids generate(const std::function<Tensor(const Ids&)>& model, const Ids& prompt, int steps,
             std::size_t context) {
  return solution::generate([&](const Ids& t) { return model(t.size() > context ? Ids{t.back()} : t); },
                            prompt, steps, 100);
}
}  // namespace one_token_once_it_is_full
MUTANT(one_token_once_it_is_full, "the context is the last tokens")

namespace a_long_prompt_stays_long {
using solution::top_k;
Ids generate(const std::function<Tensor(const Ids&)>& model, const Ids& prompt, int steps,
             std::size_t context) {
  Ids tokens = prompt, window = prompt;
  for (int step = 0; step < steps; ++step) {
    tokens.push_back(model(window).argmax().item<std::int64_t>());
    window.push_back(tokens.back());
    if (window.size() > context) window.erase(window.begin());
  }
  return tokens;
}
}  // namespace a_long_prompt_stays_long
MUTANT(a_long_prompt_stays_long, "the context is the last tokens")

namespace writes_into_the_logits {
using solution::generate;
Tensor top_k(const Tensor& logits, std::int64_t k, double temperature) {
  Tensor z = logits;
  z[z < topk(z, k).first[k - 1].item()] = -INFINITY;
  return softmax(z / temperature, 0);
}
}  // namespace writes_into_the_logits
MUTANT(writes_into_the_logits, "the logits are as before")
