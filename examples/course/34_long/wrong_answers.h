namespace neighbours_paired {
using solution::window, solution::alibi;
Tensor rotate(const Tensor& x, double base) {
  return rope(x, {.base = base, .pairs = RopePairs::neighbours});
}
}  // namespace neighbours_paired
MUTANT(neighbours_paired, "the pairs and their speeds")

namespace positions_from_1 {
using solution::window, solution::alibi;
Tensor rotate(const Tensor& x, double base) { return rope(x, {.offset = 1, .base = base}); }
}  // namespace positions_from_1
MUTANT(positions_from_1, "position 0 is unchanged", "the pairs and their speeds")

namespace both_signs_alike {
using solution::window, solution::alibi;
Tensor rotate(const Tensor& x, double base) {
  const std::int64_t D = x.size(1);
  const Tensor speed = (arange(D / 2).to(f64) * (-2 * std::log(base) / static_cast<double>(D))).exp();
  const Tensor angle = outer(arange(x.size(0)).to(f64), speed), a = x.slice(1, 0, D / 2),
               b = x.slice(1, D / 2);
  return cat({a * cos(angle) + b * sin(angle), a * sin(angle) + b * cos(angle)}, 1);
}
}  // namespace both_signs_alike
MUTANT(both_signs_alike, "lengths are preserved")

namespace same_speed_for_all {
using solution::window, solution::alibi;
Tensor rotate(const Tensor& x, double) { return solution::rotate(x, 1); }
}  // namespace same_speed_for_all
MUTANT(same_speed_for_all, "the pairs and their speeds")

namespace window_one_too_wide {
using solution::rotate, solution::alibi;
Tensor window(std::int64_t T, std::int64_t w) { return solution::window(T, w + 1); }
}  // namespace window_one_too_wide
MUTANT(window_one_too_wide, "a window sees itself and w - 1 before it")

namespace window_on_both_sides {
using solution::rotate, solution::alibi;
Tensor window(std::int64_t T, std::int64_t w) {
  return (solution::distance(T).abs() < static_cast<double>(w)).to(f64);
}
}  // namespace window_on_both_sides
MUTANT(window_on_both_sides, "a window sees itself and w - 1 before it")

namespace alibi_rewards_distance {
using solution::rotate, solution::window;
Tensor alibi(std::int64_t T, double m) { return solution::alibi(T, -m); }
}  // namespace alibi_rewards_distance
MUTANT(alibi_rewards_distance, "ALiBi penalizes distance")

namespace angle_of_t_squared {
using solution::window, solution::alibi;
Tensor rotate(const Tensor& x, double base) {
  std::vector<Tensor> rows;
  for (std::int64_t t = 0; t < x.size(0); ++t)
    rows.push_back(rope(x.slice(0, t, t + 1), {.offset = t * t, .base = base}));
  return cat(rows);
}
}  // namespace angle_of_t_squared
MUTANT(angle_of_t_squared, "the pairs and their speeds")

namespace window_always_2 {
using solution::rotate, solution::alibi;
Tensor window(std::int64_t T, std::int64_t) { return solution::window(T, 2); }
}  // namespace window_always_2
MUTANT(window_always_2, "a window sees itself and w - 1 before it")

namespace alibi_always_a_half {
using solution::rotate, solution::window;
Tensor alibi(std::int64_t T, double) { return solution::alibi(T, 0.5); }
}  // namespace alibi_always_a_half
MUTANT(alibi_always_a_half, "ALiBi penalizes distance")

namespace off_the_tape {
using solution::window, solution::alibi;
Tensor rotate(const Tensor& x, double base) { return solution::rotate(x.detach(), base); }
}  // namespace off_the_tape
MUTANT(off_the_tape, "the gradient reaches x")

namespace quotient_of_integers {
using solution::window, solution::alibi;
Tensor rotate(const Tensor& x, double base) {
  const std::int64_t D = x.size(1);
  std::vector<double> speeds;
  for (std::int64_t i = 0; i < D / 2; ++i) speeds.push_back(std::pow(base, static_cast<double>(-2 * i / D)));
  const Tensor angle = outer(arange(x.size(0)).to(f64), from_vector(speeds)), a = x.slice(1, 0, D / 2),
               b = x.slice(1, D / 2);
  return cat({a * cos(angle) - b * sin(angle), a * sin(angle) + b * cos(angle)}, 1);
}
}  // namespace quotient_of_integers
MUTANT(quotient_of_integers, "the pairs and their speeds")
