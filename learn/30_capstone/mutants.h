namespace mean_decides {
using solution::level;
Verdict verdict(const std::vector<double>& figures, double, const Band& band) {
  return solution::verdict(figures, 0, band);
}
}  // namespace mean_decides
MUTANT(mean_decides, "a mean inside is not enough", "a mean outside is not enough")

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
MUTANT(never_unclear, "a mean inside is not enough", "a mean outside is not enough")

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
MUTANT(touching_holds, "a mean inside is not enough", "a mean outside is not enough")

namespace undecided {
using solution::level;
Verdict verdict(const std::vector<double>&, double, const Band&) { return Verdict::unclear; }
}  // namespace undecided
MUTANT(undecided, "inside the band it holds", "outside the band it fails", "more seeds decide")

namespace the_same_level_for_all {
using solution::verdict;
double level(int) { return 0.95; }
}  // namespace the_same_level_for_all
MUTANT(the_same_level_for_all, "many questions, a stricter level")
