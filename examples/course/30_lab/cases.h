struct Answer {
  double (*sensitivity)(const std::vector<double>& loss, double start);
  int (*best)(const std::vector<double>& loss);
};
#define ANSWER(FROM) \
  { FROM::sensitivity, FROM::best_rate }

CASE("the same loss everywhere means no sensitivity", "The mean minus the smallest.") {
  near("the sensitivity of 2, 2, 2", answer.sensitivity({2, 2, 2}, 5), 0);
}
CASE("the mean counts every rate", "Divide by the number of rates; subtract the smallest loss.") {
  near("the sensitivity of 1, 2, 3", answer.sensitivity({1, 2, 3}, 5), 1);
}
CASE("a diverged run counts as the start",
     "min(loss, start) in the place of loss, for the mean and for the smallest.") {
  near("of 1 and 1000, start 5", answer.sensitivity({1, 1000}, 5), 2);
  near("of 6 and 8, start 5", answer.sensitivity({6, 8}, 5), 0);
}
CASE("NaN counts as the start too", "std::isnan: neither x < 2 nor x > 2 holds for NaN.") {
  near("of 1 and NaN, start 5", answer.sensitivity({1, std::nan("")}, 5), 2);
  near("of NaN and 1, start 5", answer.sensitivity({std::nan(""), 1}, 5), 2);
  near("of NaN and NaN, start 5", answer.sensitivity({std::nan(""), std::nan("")}, 5), 0);
}
CASE("the best rate is never a NaN", "Even if the NaN comes first.") {
  expect(answer.best({std::nan(""), 3, 2, 4}) == 2, "of NaN, 3, 2, 4 the best is at place 2");
  expect(answer.best({std::nan(""), std::nan(""), 2, 4}) == 2, "of NaN, NaN, 2, 4 the best is at place 2");
}
