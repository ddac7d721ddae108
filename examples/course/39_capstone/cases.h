struct Answer {
  int (*pairs)(const std::vector<double>& pilot, double half, const StudentT& t);
  Verdict (*verdict)(const Interval& interval, const Band& band);
  double (*level)(int questions);
};
#define ANSWER(FROM) \
  { FROM::pairs, FROM::verdict, FROM::level }

namespace {
const StudentT kTwo = [](int) { return 2.0; };
}  // namespace

CASE("s is the pilot's standard deviation",
     "The root of the sum of (x - m)^2, divided by the pilot's n - 1.") {
  near("for a pilot with 5 and 7, t = 2 and a half width of 0.51, the number of pairs",
       answer.pairs({5, 7}, 0.51, kTwo), 31);
  near("for a pilot with 0.25 and 1.25, t = 2 and a half width of 0.51, the number of pairs",
       answer.pairs({0.25, 1.25}, 0.51, kTwo), 8);
}
CASE("half the width, four times the pairs", "The half width is t s / sqrt(n), as in chapter 10.") {
  const std::vector<double> pilot = randn({9}).to_vector<double>();
  near("the number of pairs for 0.01 over that for 0.02",
       1.0 * answer.pairs(pilot, 0.01, kTwo) / answer.pairs(pilot, 0.02, kTwo), 4, 0.01);
  near("for a pilot with 0, 1 and 2, t = 2 and a half width of 0.5, the number of pairs",  // exactly 0.5
       answer.pairs({0, 1, 2}, 0.5, kTwo), 16);
}
CASE("t is that of the run",
     "t depends on the n that you look for: try n = 2, 3, 4 and so on. The pilot's own t is too large.") {
  const StudentT falling = [](int n) { return 2 + 10.0 / (n - 1); };
  near("for t(n) = 2 + 10 / (n - 1), s = 1 and a half width of 0.5, the number of pairs",
       answer.pairs({0, 1, 2}, 0.5, falling), 24);
}
CASE("no interval has fewer than 2 figures", "One figure has no standard deviation: start at n = 2.") {
  near("for a pilot of almost equal figures, the number of pairs", answer.pairs({1, 1.0001}, 0.5, kTwo), 2);
}
CASE("inside the band it holds", "Both ends of the interval are in the band.") {
  expect(answer.verdict({0.9, 1.1}, {0.5, 1.5}) == Verdict::holds, "0.9 .. 1.1 is inside 0.5 .. 1.5");
}
CASE("outside the band it fails", "Above it or below it.") {
  expect(answer.verdict({2.9, 3.1}, {0.5, 1.5}) == Verdict::fails, "2.9 .. 3.1 is above 0.5 .. 1.5");
  expect(answer.verdict({-0.1, 0.2}, {0.5, 1.5}) == Verdict::fails, "-0.1 .. 0.2 is below 0.5 .. 1.5");
}
CASE("a mean inside is not enough", "The whole interval must be inside: across an edge it is unclear.") {
  expect(answer.verdict({-0.2, 2.2}, {0.5, 1.5}) == Verdict::unclear,
         "-0.2 .. 2.2 has its mean in 0.5 .. 1.5, and reaches beyond both edges");
  expect(answer.verdict({0.3, 1.2}, {0.5, 1.5}) == Verdict::unclear,
         "0.3 .. 1.2 has its mean in 0.5 .. 1.5, and lies across the lower edge");
}
CASE("a mean outside is not enough", "An interval that reaches into the band is unclear.") {
  expect(answer.verdict({0.9, 3.1}, {0.5, 1.5}) == Verdict::unclear, "0.9 .. 3.1 reaches into 0.5 .. 1.5");
  expect(answer.verdict({-1.1, 0.9}, {0.5, 1.5}) == Verdict::unclear, "-1.1 .. 0.9 reaches into 0.5 .. 1.5");
}
CASE("many questions, a stricter level", "1 - 0.05 / m.") {
  near("level(1)", answer.level(1), 0.95), near("level(10)", answer.level(10), 0.995);
}
