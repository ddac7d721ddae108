namespace not_renormalized {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  return solution::probabilities(logits, temperature, 0, 1) *
         (solution::probabilities(logits, temperature, k, p) > 0).to(f64);
}
}  // namespace not_renormalized
MUTANT(not_renormalized, "what is left adds up to 1", "one token always stays",
       "k tokens stay, also of equal ones", "temperature 0 is a limit", "an excluded token stays excluded")

namespace in_descending_order {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  return sort(solution::probabilities(logits, temperature, k, p), 0, true).first;
}
}  // namespace in_descending_order
MUTANT(in_descending_order, "each token has its own probability", "the temperature divides the logits",
       "the token that crosses p stays", "one token always stays", "top-p sees the temperature",
       "top-p sees what top-k leaves", "k tokens stay, also of equal ones",
       "a small temperature does not overflow", "temperature 0 is a limit",
       "an excluded token stays excluded")

namespace temperature_multiplies {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  return solution::probabilities(logits, temperature > 0 ? 1 / temperature : 0, k, p);
}
}  // namespace temperature_multiplies
MUTANT(temperature_multiplies, "the temperature divides the logits", "top-p sees the temperature",
       "a small temperature does not overflow")

// The solution's filters, with another choice of what top-p keeps.
template <class Drop>
Tensor filtered(const Tensor& logits, double temperature, std::int64_t k, double p, Drop drop) {
  const auto [z, tokens] = topk(log(solution::probabilities(logits, temperature, k, 1)), logits.numel());
  const Tensor all = softmax(z, 0), sums = cumsum(all, 0);
  const Tensor kept = p < 1 ? masked_fill(all, drop(all, sums), 0.0) : all;
  return scatter(zeros_like(logits), 0, tokens, kept / kept.sum());
}

namespace crossing_token_dropped {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  return filtered(logits, temperature, k, p, [p](const Tensor&, const Tensor& sums) { return sums > p; });
}
}  // namespace crossing_token_dropped
MUTANT(crossing_token_dropped, "the token that crosses p stays", "one token always stays",
       "top-p sees the temperature", "top-p sees what top-k leaves")

namespace one_token_too_many {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  return filtered(logits, temperature, k, p,
                  [p](const Tensor& all, const Tensor& sums) { return sums - all > p; });
}
}  // namespace one_token_too_many
MUTANT(one_token_too_many, "where the sum is p, no token follows")

namespace temperature_last {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  return solution::probabilities(log(solution::probabilities(logits, 1, k, p)), temperature, 0, 1);
}
}  // namespace temperature_last
MUTANT(temperature_last, "top-p sees the temperature")

namespace top_p_first {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  const Tensor left = log(solution::probabilities(logits, temperature, 0, p));
  return solution::probabilities(left, 1, k, 1);
}
}  // namespace top_p_first
MUTANT(top_p_first, "top-p sees what top-k leaves")

namespace equals_of_the_kth {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  if (k == 0) return solution::probabilities(logits, temperature, k, p);
  const double least = topk(logits, k).first[k - 1].item();
  return solution::probabilities(masked_fill(logits, logits < least, -INFINITY), temperature, 0, p);
}
}  // namespace equals_of_the_kth
MUTANT(equals_of_the_kth, "k tokens stay, also of equal ones", "temperature 0 is a limit")

namespace divided_by_zero {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  return temperature > 0 ? solution::probabilities(logits, temperature, k, p)
                         : softmax(logits / temperature, 0);
}
}  // namespace divided_by_zero
MUTANT(divided_by_zero, "temperature 0 is a limit")

namespace greedy_at_zero {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  return solution::probabilities(logits, temperature, temperature > 0 ? k : 1, p);
}
}  // namespace greedy_at_zero
MUTANT(greedy_at_zero, "temperature 0 is a limit")

namespace logits_set_to_zero {  // exp(0) is 1
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  const Tensor kept = solution::probabilities(logits, temperature, k, p);
  return temperature > 0 ? softmax(masked_fill(logits / temperature, kept == 0.0, 0.0), 0) : kept;
}
}  // namespace logits_set_to_zero
MUTANT(logits_set_to_zero, "the token that crosses p stays", "one token always stays",
       "where the sum is p, no token follows", "top-p sees the temperature", "top-p sees what top-k leaves",
       "k tokens stay, also of equal ones", "an excluded token stays excluded")

namespace mask_times_logits {  // 0 times infinity is NaN
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  const Tensor all = solution::probabilities(logits, temperature, 0, 1);
  const Tensor mask = (solution::probabilities(logits, temperature, k, p) > 0).to(f64);
  return exp(log(all) * mask) * mask / (all * mask).sum();
}
}  // namespace mask_times_logits
MUTANT(mask_times_logits, "a small temperature does not overflow", "temperature 0 is a limit",
       "an excluded token stays excluded")

namespace exp_of_the_logits {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  const Tensor kept = solution::probabilities(logits, temperature, k, p);
  if (temperature == 0) return kept;
  const Tensor weights = masked_fill(exp(logits / temperature), kept == 0.0, 0.0);
  return weights / weights.sum();
}
}  // namespace exp_of_the_logits
MUTANT(exp_of_the_logits, "a small temperature does not overflow")

namespace last_token_alone {
using solution::probabilities;
std::vector<Beam> beam_step(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t width) {
  std::vector<Beam> from_zero = beams;
  for (Beam& beam : from_zero) beam.log_p = 0;
  return solution::beam_step(from_zero, log_p, width);
}
}  // namespace last_token_alone
MUTANT(last_token_alone, "log-probabilities add up", "all texts compete", "a text begins with its own beam",
       "a text of probability 0 is none", "equal texts keep their order")

namespace ranked_by_the_last_token {
using solution::probabilities;
std::vector<Beam> beam_step(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t width) {
  std::vector<Beam> longer =
      solution::beam_step(beams, log_p, beams.size() * static_cast<std::size_t>(log_p.size(1)));
  const auto before = [&](const Beam& a) {
    for (const Beam& beam : beams)
      if (std::equal(beam.tokens.begin(), beam.tokens.end(), a.tokens.begin())) return beam.log_p;
    return 0.0;
  };
  std::stable_sort(longer.begin(), longer.end(),
                   [&](const Beam& a, const Beam& b) { return a.log_p - before(a) > b.log_p - before(b); });
  longer.resize(std::min(width, longer.size()));
  return longer;
}
}  // namespace ranked_by_the_last_token
MUTANT(ranked_by_the_last_token, "log-probabilities add up", "all texts compete",
       "equal texts keep their order")

namespace best_of_each_beam {
using solution::probabilities;
std::vector<Beam> beam_step(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t width) {
  if (beams.size() == 1) return solution::beam_step(beams, log_p, width);
  std::vector<Beam> all;
  for (std::size_t i = 0; i < beams.size(); ++i)
    for (const Beam& beam :
         solution::beam_step({beams[i]}, log_p[static_cast<std::int64_t>(i)].unsqueeze(0), 1))
      all.push_back(beam);
  std::stable_sort(all.begin(), all.end(), [](const Beam& a, const Beam& b) { return a.log_p > b.log_p; });
  all.resize(std::min(width, all.size()));
  return all;
}
}  // namespace best_of_each_beam
MUTANT(best_of_each_beam, "all texts compete", "a text begins with its own beam",
       "equal texts keep their order")

namespace as_many_as_before {
using solution::probabilities;
std::vector<Beam> beam_step(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t) {
  return solution::beam_step(beams, log_p, beams.size());
}
}  // namespace as_many_as_before
MUTANT(as_many_as_before, "one beam becomes several", "equal texts keep their order")

namespace tokens_by_rank {
using solution::probabilities;
std::vector<Beam> beam_step(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t width) {
  std::vector<Beam> longer = solution::beam_step(beams, log_p, width);
  for (std::size_t i = 0; i < longer.size(); ++i) {
    const std::int64_t token = longer[i].tokens.back();
    longer[i].tokens = beams[std::min(i, beams.size() - 1)].tokens;
    longer[i].tokens.push_back(token);
  }
  return longer;
}
}  // namespace tokens_by_rank
MUTANT(tokens_by_rank, "log-probabilities add up", "all texts compete", "a text begins with its own beam",
       "equal texts keep their order")

namespace impossible_texts_kept {
using solution::probabilities;
std::vector<Beam> beam_step(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t width) {
  return solution::beam_step(beams, masked_fill(log_p, log_p == -INFINITY, -1e30), width);
}
}  // namespace impossible_texts_kept
MUTANT(impossible_texts_kept, "a text of probability 0 is none")

namespace last_of_equals {
using solution::probabilities;
std::vector<Beam> beam_step(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t width) {
  std::vector<Beam> all =
      solution::beam_step(beams, log_p, beams.size() * static_cast<std::size_t>(log_p.size(1)));
  std::reverse(all.begin(), all.end());
  std::stable_sort(all.begin(), all.end(), [](const Beam& a, const Beam& b) { return a.log_p > b.log_p; });
  all.resize(std::min(width, all.size()));
  return all;
}
}  // namespace last_of_equals
MUTANT(last_of_equals, "equal texts keep their order")

namespace sorted_without_order_of_equals {
using solution::probabilities;
std::vector<Beam> beam_step(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t width) {
  std::vector<Beam> all =
      solution::beam_step(beams, log_p, beams.size() * static_cast<std::size_t>(log_p.size(1)));
  std::sort(all.begin(), all.end(), [](const Beam& a, const Beam& b) { return a.log_p > b.log_p; });
  all.resize(std::min(width, all.size()));
  return all;
}
}  // namespace sorted_without_order_of_equals
MUTANT(sorted_without_order_of_equals, "equal texts keep their order")

namespace top_k_ignored_at_zero {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  return solution::probabilities(logits, temperature, temperature > 0 ? k : 0, p);
}
}  // namespace top_k_ignored_at_zero
MUTANT(top_k_ignored_at_zero, "temperature 0 is a limit")

namespace higher_number_first {
using solution::beam_step;
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  const Tensor all = solution::probabilities(logits, temperature, k, 1);
  if (p == 1) return all;
  const Tensor turned = flip(all, {0}), z = flip(solution::probabilities(turned.log(), 1, 0, p), {0});
  return z;
}
}  // namespace higher_number_first
MUTANT(higher_number_first, "where the sum is p, no token follows")
