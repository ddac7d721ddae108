namespace {
Interval around(const std::vector<double>& a, const std::vector<double>& b, double half) {
  const Interval i = solution::paired_interval(a, b, 0);
  return {i.low - half, i.high + half};
}
double half_width(const std::vector<double>& a, const std::vector<double>& b, double t) {
  const Interval i = solution::paired_interval(a, b, t);
  return (i.high - i.low) / 2;
}
}  // namespace

namespace unpaired {
using solution::better;
Interval paired_interval(const std::vector<double>& a, const std::vector<double>& b, double t) {
  const std::vector<double> none(a.size(), 0.0);
  return around(a, b, std::hypot(half_width(a, none, t), half_width(b, none, t)));
}
}  // namespace unpaired
MUTANT(unpaired, "the effect of the seeds cancels")

namespace divided_by_n {
using solution::better;
Interval paired_interval(const std::vector<double>& a, const std::vector<double>& b, double t) {
  const double n = static_cast<double>(a.size());
  return around(a, b, half_width(a, b, t) * std::sqrt((n - 1) / n));
}
}  // namespace divided_by_n
MUTANT(divided_by_n, "the standard deviation divides by n - 1")

namespace deviation_for_error {
using solution::better;
Interval paired_interval(const std::vector<double>& a, const std::vector<double>& b, double t) {
  return around(a, b, half_width(a, b, t) * std::sqrt(static_cast<double>(a.size())));
}
}  // namespace deviation_for_error
MUTANT(deviation_for_error, "the standard deviation divides by n - 1",
       "four times the seeds, half the interval")

namespace the_other_way {
using solution::better;
Interval paired_interval(const std::vector<double>& a, const std::vector<double>& b, double t) {
  return solution::paired_interval(b, a, t);
}
}  // namespace the_other_way
MUTANT(the_other_way, "the middle is the mean difference")

namespace mean_decides {
using solution::paired_interval;
bool better(const Interval& difference) { return difference.low + difference.high < 0; }
}  // namespace mean_decides
MUTANT(mean_decides, "an interval that contains 0 claims nothing")

namespace t_forgotten {
using solution::better;
Interval paired_interval(const std::vector<double>& a, const std::vector<double>& b, double) {
  return solution::paired_interval(a, b, 1);
}
}  // namespace t_forgotten
MUTANT(t_forgotten, "the standard deviation divides by n - 1")

namespace better_up_to_0 {
using solution::paired_interval;
bool better(const Interval& difference) { return difference.high <= 0; }
}  // namespace better_up_to_0
MUTANT(better_up_to_0, "an interval that contains 0 claims nothing")
