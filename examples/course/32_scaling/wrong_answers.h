namespace another_form {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int, double m) {
  if (role == Role::input) return {1 / std::sqrt(fan_in), 1, 1};
  return {role == Role::hidden ? 1 / std::sqrt(fan_in) : std::sqrt(m / fan_in) / m, 1 / m, 1};
}
}  // namespace another_form
MUTANT(another_form)

namespace standard_scaling {
using solution::sensitivity;
Factors mup(Role, int fan_in, int, double) { return {1 / std::sqrt(fan_in), 1, 1}; }
}  // namespace standard_scaling
MUTANT(standard_scaling, "a step of the hidden matrix moves the output equally far",
       "a step of the output matrix moves the output equally far", "the output starts smaller in a wider net")

namespace rate_by_the_root {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int fan_out, double m) {
  Factors f = solution::mup(role, fan_in, fan_out, m);
  if (role == Role::hidden) f.rate = 1 / std::sqrt(m);
  return f;
}
}  // namespace rate_by_the_root
MUTANT(rate_by_the_root, "a step of the hidden matrix moves the output equally far")

namespace rate_upside_down {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int fan_out, double m) {
  Factors f = solution::mup(role, fan_in, fan_out, m);
  if (role == Role::hidden) f.rate = m;
  return f;
}
}  // namespace rate_upside_down
MUTANT(rate_upside_down, "a step of the hidden matrix moves the output equally far")

namespace every_rate_divided {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int fan_out, double m) {
  Factors f = solution::mup(role, fan_in, fan_out, m);
  if (role == Role::input) f.rate = 1 / m;
  return f;
}
}  // namespace every_rate_divided
MUTANT(every_rate_divided, "the input matrix stays as it is")

namespace rates_of_sgd {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int, double m) {
  if (role == Role::input) return {1 / std::sqrt(fan_in), m, 1};
  if (role == Role::hidden) return {1 / std::sqrt(fan_in), 1, 1};
  return {std::sqrt(m / fan_in) / m, 1 / m, 1};
}
}  // namespace rates_of_sgd
MUTANT(rates_of_sgd, "the input matrix stays as it is",
       "a step of the hidden matrix moves the output equally far")

namespace multiplier_by_the_root {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int fan_out, double m) {
  Factors f = solution::mup(role, fan_in, fan_out, m);
  if (role == Role::output) f.multiplier = 1 / std::sqrt(m);
  return f;
}
}  // namespace multiplier_by_the_root
MUTANT(multiplier_by_the_root, "a step of the hidden matrix moves the output equally far",
       "a step of the output matrix moves the output equally far", "the output starts smaller in a wider net")

namespace multiplier_of_the_hidden_matrix {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int, double m) {
  if (role == Role::hidden) return {1 / std::sqrt(fan_in), 1 / m, 1 / m};
  return {1 / std::sqrt(fan_in), 1, 1};
}
}  // namespace multiplier_of_the_hidden_matrix
MUTANT(multiplier_of_the_hidden_matrix, "hidden values start with one size",
       "a step of the hidden matrix moves the output equally far", "the output starts smaller in a wider net")

namespace output_divided_twice {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int fan_out, double m) {
  Factors f = solution::mup(role, fan_in, fan_out, m);
  if (role == Role::output) f.rate = 1 / m;
  return f;
}
}  // namespace output_divided_twice
MUTANT(output_divided_twice, "a step of the output matrix moves the output equally far")

namespace starts_divided_twice {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int fan_out, double m) {
  Factors f = solution::mup(role, fan_in, fan_out, m);
  if (role == Role::output) f.std = 1 / std::sqrt(fan_in);
  return f;
}
}  // namespace starts_divided_twice
MUTANT(starts_divided_twice, "a step of the hidden matrix moves the output equally far",
       "the output starts smaller in a wider net")

namespace fan_out_for_fan_in {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int fan_out, double m) {
  Factors f = solution::mup(role, fan_in, fan_out, m);
  if (role != Role::output) f.std = 1 / std::sqrt(fan_out);
  return f;
}
}  // namespace fan_out_for_fan_in
MUTANT(fan_out_for_fan_in, "at the base width nothing changes", "the input matrix stays as it is",
       "hidden values start with one size", "a step of the hidden matrix moves the output equally far",
       "a step of the output matrix moves the output equally far")

namespace variance_for_deviation {
using solution::sensitivity;
Factors mup(Role role, int fan_in, int fan_out, double m) {
  Factors f = solution::mup(role, fan_in, fan_out, m);
  if (role == Role::hidden) f.std = 1.0 / fan_in;
  return f;
}
}  // namespace variance_for_deviation
MUTANT(variance_for_deviation, "at the base width nothing changes", "hidden values start with one size",
       "a step of the output matrix moves the output equally far")

namespace without_a_limit {
using solution::mup;
Tensor sensitivity(const Tensor& end, const Tensor&) { return end.mean(1) - end.min(1); }
}  // namespace without_a_limit
MUTANT(without_a_limit, "a run that fails counts as its loss at the start",
       "NaN counts as the loss at the start")

namespace limit_of_the_mean {
using solution::mup;
Tensor sensitivity(const Tensor& end, const Tensor& start) {
  const Tensor known = where(isnan(end), start, end);
  return minimum(known.mean(1), start.mean(1)) - known.min(1);
}
}  // namespace limit_of_the_mean
MUTANT(limit_of_the_mean, "a run that fails counts as its loss at the start")

namespace leaves_out_what_fails {
using solution::mup;
Tensor sensitivity(const Tensor& end, const Tensor& start) {
  const Tensor trains = (end < start).to(end.dtype()), known = where(end < start, end, start);
  return (trains * known).sum(1) / trains.sum(1) - known.min(1);
}
}  // namespace leaves_out_what_fails
MUTANT(leaves_out_what_fails, "a run that fails counts as its loss at the start",
       "NaN counts as the loss at the start")

namespace nan_stays {
using solution::mup;
Tensor sensitivity(const Tensor& end, const Tensor& start) {
  const Tensor least = minimum(end, start);
  return least.mean(1) - least.min(1);
}
}  // namespace nan_stays
MUTANT(nan_stays, "NaN counts as the loss at the start")

namespace best_rate_of_the_mean {
using solution::mup;
Tensor sensitivity(const Tensor& end, const Tensor& start) {
  const Tensor least = where(isnan(end), start, minimum(end, start));
  return least.mean(1) - least.select(1, least.mean(0).argmin().item<std::int64_t>());
}
}  // namespace best_rate_of_the_mean
MUTANT(best_rate_of_the_mean, "each seed has its own best rate")
