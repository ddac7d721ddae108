struct Answer {
  Verdict (*verdict)(const std::vector<double>& figures, double t, const Band& band);
  double (*level)(int questions);
};
#define ANSWER(FROM) \
  { FROM::verdict, FROM::level }

CASE("inside the band it holds", "Both ends of the interval are in the band.") {
  expect(answer.verdict({1.0, 1.1, 0.9}, 2, {0.5, 1.5}) == Verdict::holds,
         "figures near 1 are inside 0.5 .. 1.5");
}
CASE("outside the band it fails", "Above it or below it.") {
  expect(answer.verdict({3.0, 3.1, 2.9}, 2, {0.5, 1.5}) == Verdict::fails,
         "figures near 3 are above 0.5 .. 1.5");
  expect(answer.verdict({0.1, 0.0, 0.2}, 2, {0.5, 1.5}) == Verdict::fails,
         "figures near 0.1 are below 0.5 .. 1.5");
}
CASE("a mean inside is not enough", "The whole interval must be inside: across an edge it is unclear.") {
  expect(answer.verdict({0.0, 1.0, 2.0}, 2, {0.5, 1.5}) == Verdict::unclear,
         "0, 1 and 2 have the mean 1, and an interval from -0.15 to 2.15");
}
CASE("a mean outside is not enough", "An interval that reaches into the band is unclear.") {
  expect(answer.verdict({1.0, 2.0, 3.0}, 2, {0.5, 1.5}) == Verdict::unclear,
         "1, 2 and 3 have an interval from 0.85 to 3.15");
}
CASE("more seeds decide", "It is the interval of the mean: divide by sqrt(n).") {
  std::vector<double> figures;
  for (int i = 0; i < 50; ++i) figures.push_back(0), figures.push_back(2);
  expect(answer.verdict(figures, 2, {0.7, 1.3}) == Verdict::holds,
         "100 figures with the mean 1 have an interval from 0.8 to 1.2");
}
CASE("the interval is as wide as its formula says",
     "s is the root of the sum divided by n - 1; t is the caller's.") {
  // 0 and 2 with t = 1: m = 1, s = sqrt(2), interval from 0 to 2.
  expect(answer.verdict({0.0, 2.0}, 1, {-0.1, 2.1}) == Verdict::holds,
         "0 and 2 have, with t = 1, an interval from 0 to 2: inside -0.1 .. 2.1");
  expect(answer.verdict({0.0, 2.0}, 1, {0.1, 1.9}) == Verdict::unclear,
         "0 and 2 have, with t = 1, an interval from 0 to 2: not inside 0.1 .. 1.9");
}
CASE("many questions, a stricter level", "1 - 0.05 / m.") {
  near("level(1)", answer.level(1), 0.95), near("level(10)", answer.level(10), 0.995);
}
