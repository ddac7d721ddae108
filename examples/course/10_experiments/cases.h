struct Answer {
  Interval (*paired)(const std::vector<double>& a, const std::vector<double>& b, double t);
  bool (*better)(const Interval& difference);
};
#define ANSWER(FROM) \
  { FROM::paired_interval, FROM::better }

CASE("the middle is the mean difference", "a - b, not b - a.") {
  const Interval i = answer.paired({1, 2, 6}, {2, 2, 2}, 2);
  near("the middle", (i.low + i.high) / 2, 1);
}
CASE("the effect of the seeds cancels",
     "First take differences seed by seed: then easy and hard seeds do not matter.") {
  const Interval i = answer.paired({1, 5, 9}, {1.5, 5.5, 9.5}, 2);
  near("the width", i.high - i.low, 0);
}
CASE("the standard deviation divides by n - 1", "One degree of freedom is spent on the mean.") {
  const Interval i = answer.paired({0, 2}, {0, 0}, 3);
  near("the width for differences 0 and 2, t = 3", i.high - i.low, 6);
}
CASE("four times the seeds, half the interval", "Divide by sqrt(n).") {
  std::vector<double> few, many, zeros_few, zeros_many;
  for (int i = 0; i < 100; ++i)
    (i < 25 ? few.push_back(i % 5), zeros_few.push_back(0) : void()), many.push_back(i % 5),
        zeros_many.push_back(0);
  const Interval a = answer.paired(few, zeros_few, 2), b = answer.paired(many, zeros_many, 2);
  near("the ratio of the widths", (a.high - a.low) / (b.high - b.low), 2, 0.02);
}
CASE("an interval that contains 0 claims nothing", "The whole interval is below 0: its upper end is.") {
  expect(answer.better({-3, -1}), "all below 0 is better");
  expect(!answer.better({-3, 0.5}), "an interval from -3 to 0.5 allows no claim");
  expect(!answer.better({-3, 0}), "an interval from -3 to 0 allows no claim");
  expect(!answer.better({1, 3}), "a larger loss is not better");
}
