namespace mean_decides {
using solution::level;
Verdict verdict(const std::vector<double>& figures, double, const Band& band) {
  return solution::verdict(figures, 0, band);
}
}  // namespace mean_decides
MUTANT(mean_decides, "a mean inside is not enough", "a mean outside is not enough",
       "the interval is as wide as its formula says")

namespace deviation_for_error {
using solution::level;
Verdict verdict(const std::vector<double>& figures, double t, const Band& band) {
  return solution::verdict(figures, figures.size() > 3 ? t * 10 : t, band);
}
}  // namespace deviation_for_error
MUTANT(deviation_for_error, "more seeds decide")

namespace never_unclear {
using solution::level;
Verdict verdict(const std::vector<double>& figures, double t, const Band& band) {
  return solution::verdict(figures, t, band) == Verdict::holds ? Verdict::holds : Verdict::fails;
}
}  // namespace never_unclear
MUTANT(never_unclear, "a mean inside is not enough", "a mean outside is not enough",
       "the interval is as wide as its formula says")

namespace below_is_fine {
using solution::level;
Verdict verdict(const std::vector<double>& figures, double t, const Band& band) {
  return solution::verdict(figures, t, {-1e9, band.high});
}
}  // namespace below_is_fine
MUTANT(below_is_fine, "outside the band it fails")

namespace touching_holds {
using solution::level;
Verdict verdict(const std::vector<double>& figures, double t, const Band& band) {
  const Verdict v = solution::verdict(figures, t, band);
  return v == Verdict::unclear ? Verdict::holds : v;
}
}  // namespace touching_holds
MUTANT(touching_holds, "a mean inside is not enough", "a mean outside is not enough",
       "the interval is as wide as its formula says")

namespace undecided {
using solution::level;
Verdict verdict(const std::vector<double>&, double, const Band&) { return Verdict::unclear; }
}  // namespace undecided
MUTANT(undecided, "inside the band it holds", "outside the band it fails", "more seeds decide",
       "the interval is as wide as its formula says")

namespace the_same_level_for_all {
using solution::verdict;
double level(int) { return 0.95; }
}  // namespace the_same_level_for_all
MUTANT(the_same_level_for_all, "many questions, a stricter level")

namespace {
Verdict by_half_width(const std::vector<double>& figures, const Band& band, bool root, double less,
                      double t) {
  const double n = static_cast<double>(figures.size());
  const double m = std::accumulate(figures.begin(), figures.end(), 0.0) / n;
  double squares = 0;
  for (const double x : figures) squares += (x - m) * (x - m);
  const double variance = squares / (n - less),
               half = t * (root ? std::sqrt(variance) : variance) / std::sqrt(n);
  if (m - half >= band.low && m + half <= band.high) return Verdict::holds;
  return m + half < band.low || m - half > band.high ? Verdict::fails : Verdict::unclear;
}
}  // namespace

namespace variance_for_deviation {
using solution::level;
Verdict verdict(const std::vector<double>& figures, double t, const Band& band) {
  return by_half_width(figures, band, false, 1, t);
}
}  // namespace variance_for_deviation
MUTANT(variance_for_deviation, "the interval is as wide as its formula says")

namespace divided_by_n {
using solution::level;
Verdict verdict(const std::vector<double>& figures, double t, const Band& band) {
  return by_half_width(figures, band, true, 0, t);
}
}  // namespace divided_by_n
MUTANT(divided_by_n, "the interval is as wide as its formula says")

namespace t_is_always_2 {
using solution::level;
Verdict verdict(const std::vector<double>& figures, double, const Band& band) {
  return by_half_width(figures, band, true, 1, 2);
}
}  // namespace t_is_always_2
MUTANT(t_is_always_2, "the interval is as wide as its formula says")
