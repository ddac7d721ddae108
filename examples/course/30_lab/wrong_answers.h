namespace {
double least_of(const std::vector<double>& loss, double otherwise) {
  const int best = solution::best_rate(loss);
  return best < 0 ? otherwise : loss[best];
}
double with(const std::vector<double>& loss, double start, bool limit, bool nan_counts, double part) {
  double sum = 0, count = 0;
  for (const double l : loss) {
    if (std::isnan(l) && !nan_counts) continue;
    sum += std::isnan(l) ? start : limit ? std::min(l, start) : l;
    ++count;
  }
  return sum / count - part * std::min(start, least_of(loss, start));
}
}  // namespace

namespace not_limited {
using solution::best_rate;
double sensitivity(const std::vector<double>& loss, double start) {
  return with(loss, start, false, true, 1);
}
}  // namespace not_limited
MUTANT(not_limited, "a diverged run counts as the start")

namespace diverged_runs_left_out {
using solution::best_rate;
double sensitivity(const std::vector<double>& loss, double start) {
  return with(loss, start, true, false, 1);
}
}  // namespace diverged_runs_left_out
MUTANT(diverged_runs_left_out, "NaN counts as the start too")

namespace only_the_mean {
using solution::best_rate;
double sensitivity(const std::vector<double>& loss, double start) { return with(loss, start, true, true, 0); }
}  // namespace only_the_mean
MUTANT(only_the_mean, "the same loss everywhere means no sensitivity", "the mean counts every rate",
       "a diverged run counts as the start", "NaN counts as the start too")

namespace worst_minus_best {
using solution::best_rate;
double sensitivity(const std::vector<double>& loss, double start) {
  double worst = 0;
  for (const double l : loss) worst = std::max(worst, std::isnan(l) ? start : std::min(l, start));
  return worst - std::min(start, least_of(loss, start));
}
}  // namespace worst_minus_best
MUTANT(worst_minus_best, "the mean counts every rate", "a diverged run counts as the start",
       "NaN counts as the start too")

namespace nan_wins {
using solution::sensitivity;
int best_rate(const std::vector<double>& loss) {
  return static_cast<int>(std::min_element(loss.begin(), loss.end()) - loss.begin());
}
}  // namespace nan_wins
MUTANT(nan_wins, "the best rate is never a NaN")

namespace smallest_may_be_nan {
using solution::best_rate;
double sensitivity(const std::vector<double>& loss, double start) {
  return with(loss, start, true, true, 0) - std::min(start, *std::min_element(loss.begin(), loss.end()));
}
}  // namespace smallest_may_be_nan
MUTANT(smallest_may_be_nan, "NaN counts as the start too")

namespace smallest_is_not_limited {
using solution::best_rate;
double sensitivity(const std::vector<double>& loss, double start) {
  return with(loss, start, true, true, 0) - least_of(loss, start);
}
}  // namespace smallest_is_not_limited
MUTANT(smallest_is_not_limited, "a diverged run counts as the start")

namespace first_or_second {
using solution::sensitivity;
int best_rate(const std::vector<double>& loss) {
  int best = std::isnan(loss[0]) ? 1 : 0;
  for (int i = 1; i < static_cast<int>(loss.size()); ++i)
    if (loss[i] < loss[best]) best = i;
  return best;
}
}  // namespace first_or_second
MUTANT(first_or_second, "the best rate is never a NaN")
