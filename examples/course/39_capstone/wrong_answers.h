namespace {
/// The smallest n for which `is_fine(s, n)`; s is the root of the sum of squares divided by the pilot's n -
/// less.
int first(const std::vector<double>& pilot, double less, const std::function<bool(double s, int n)>& is_fine,
          int n = 2) {
  const double count = static_cast<double>(pilot.size());
  const double m = std::accumulate(pilot.begin(), pilot.end(), 0.0) / count;
  double squares = 0;
  for (const double x : pilot) squares += (x - m) * (x - m);
  while (!is_fine(std::sqrt(squares / (count - less)), n)) ++n;
  return n;
}
}  // namespace

namespace divided_by_n {
using solution::verdict, solution::level;
int pairs(const std::vector<double>& pilot, double half, const StudentT& t) {
  return first(pilot, 0, [&](double s, int n) { return t(n) * s / std::sqrt(n) <= half; });
}
}  // namespace divided_by_n
MUTANT(divided_by_n, "s is the pilot's standard deviation", "t is that of the run",
       "half the width, four times the pairs")

namespace variance_for_deviation {  // no matter where s is 1
using solution::verdict, solution::level;
int pairs(const std::vector<double>& pilot, double half, const StudentT& t) {
  return first(pilot, 1, [&](double s, int n) { return t(n) * s * s / std::sqrt(n) <= half; });
}
}  // namespace variance_for_deviation
MUTANT(variance_for_deviation, "s is the pilot's standard deviation")

namespace deviation_for_error {
using solution::verdict, solution::level;
int pairs(const std::vector<double>& pilot, double half, const StudentT& t) {
  return first(pilot, 1, [&](double s, int n) { return t(n) * s / n <= half; });
}
}  // namespace deviation_for_error
MUTANT(deviation_for_error, "half the width, four times the pairs", "s is the pilot's standard deviation",
       "t is that of the run")

namespace t_of_the_pilot {
using solution::verdict, solution::level;
int pairs(const std::vector<double>& pilot, double half, const StudentT& t) {
  return solution::pairs(pilot, half, [&](int) { return t(static_cast<int>(pilot.size())); });
}
}  // namespace t_of_the_pilot
MUTANT(t_of_the_pilot, "t is that of the run")

namespace t_of_a_first_guess {
using solution::verdict, solution::level;
int pairs(const std::vector<double>& pilot, double half, const StudentT& t) {
  const int guess = t_of_the_pilot::pairs(pilot, half, t);
  return solution::pairs(pilot, half, [&](int) { return t(guess); });
}
}  // namespace t_of_a_first_guess
MUTANT(t_of_a_first_guess, "t is that of the run")

namespace t_is_always_2 {
using solution::verdict, solution::level;
int pairs(const std::vector<double>& pilot, double half, const StudentT&) {
  return solution::pairs(pilot, half, [](int) { return 2; });
}
}  // namespace t_is_always_2
MUTANT(t_is_always_2, "t is that of the run")

namespace rounded_down {
using solution::verdict, solution::level;
int pairs(const std::vector<double>& pilot, double half, const StudentT& t) {
  const int n = solution::pairs(pilot, half, t);
  return std::max(2, n - 1);
}
}  // namespace rounded_down
MUTANT(rounded_down, "s is the pilot's standard deviation", "t is that of the run",
       "half the width, four times the pairs")

namespace one_figure_is_enough {
using solution::verdict, solution::level;
int pairs(const std::vector<double>& pilot, double half, const StudentT& t) {
  return first(
      pilot, 1, [&](double s, int n) { return t(n) * s / std::sqrt(n) <= half; }, 1);
}
}  // namespace one_figure_is_enough
MUTANT(one_figure_is_enough, "no interval has fewer than 2 figures")

namespace mean_decides {
using solution::pairs, solution::level;
Verdict verdict(const Interval& interval, const Band& band) {
  const double mean = (interval.low + interval.high) / 2;
  return mean >= band.low && mean <= band.high ? Verdict::holds : Verdict::fails;
}
}  // namespace mean_decides
MUTANT(mean_decides, "a mean inside is not enough", "a mean outside is not enough")

namespace never_unclear {
using solution::pairs, solution::level;
Verdict verdict(const Interval& interval, const Band& band) {
  return solution::verdict(interval, band) == Verdict::holds ? Verdict::holds : Verdict::fails;
}
}  // namespace never_unclear
MUTANT(never_unclear, "a mean inside is not enough", "a mean outside is not enough")

namespace below_is_fine {
using solution::pairs, solution::level;
Verdict verdict(const Interval& interval, const Band& band) {
  return solution::verdict(interval, {-INFINITY, band.high});
}
}  // namespace below_is_fine
MUTANT(below_is_fine, "outside the band it fails", "a mean inside is not enough",
       "a mean outside is not enough")

namespace touching_holds {
using solution::pairs, solution::level;
Verdict verdict(const Interval& interval, const Band& band) {
  const Verdict v = solution::verdict(interval, band);
  return v == Verdict::unclear ? Verdict::holds : v;
}
}  // namespace touching_holds
MUTANT(touching_holds, "a mean inside is not enough", "a mean outside is not enough")

namespace undecided {
using solution::pairs, solution::level;
Verdict verdict(const Interval&, const Band&) { return Verdict::unclear; }
}  // namespace undecided
MUTANT(undecided, "inside the band it holds", "outside the band it fails")

namespace the_same_level_for_all {
using solution::pairs, solution::verdict;
double level(int) { return 0.95; }
}  // namespace the_same_level_for_all
MUTANT(the_same_level_for_all, "many questions, a stricter level")

namespace half_width_below_half {
using solution::level, solution::verdict;
int pairs(const std::vector<double>& pilot, double half, const StudentT& t) {
  return solution::pairs(pilot, half * (1 - 1e-12), t);
}
}  // namespace half_width_below_half
MUTANT(half_width_below_half, "half the width, four times the pairs")

namespace accumulated_in_an_int {
using solution::level, solution::verdict;
int pairs(const std::vector<double>& pilot, double half, const StudentT& t) {
  const double count = static_cast<double>(pilot.size());
  int sum = 0;
  for (const double x : pilot) sum = static_cast<int>(sum + x);  // as std::accumulate(..., 0) does
  double squares = 0;
  for (const double x : pilot) squares += (x - sum / count) * (x - sum / count);
  int n = 2;
  while (t(n) * std::sqrt(squares / (count - 1)) / std::sqrt(n) > half) ++n;
  return n;
}
}  // namespace accumulated_in_an_int
MUTANT(accumulated_in_an_int, "s is the pilot's standard deviation")
