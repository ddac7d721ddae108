struct Answer {
  std::pair<double, double> (*lemma_2)(int l, int d);
  double (*exponent)(const std::vector<double>& L, const std::vector<double>& y);
};
#define ANSWER(FROM) \
  { FROM::lemma_2, FROM::exponent }

CASE("Lemma 2 grows linearly with the layer", "1 + l/2 and 1 + 3l/2: no power of l.") {
  const auto [low, high] = answer.lemma_2(8, 1);
  near("low", low, 5), near("high", high, 13);
}
CASE("Lemma 2: odd layers too", "In C++ 3 / 2 is 1: write l / 2.0.") {
  const auto [low, high] = answer.lemma_2(3, 2);
  near("low", low, 5), near("high", high, 11);
}
CASE("Lemma 2 is about |x|^2, not its mean", "Multiply by d.") {
  near("low for l = 2, d = 64", answer.lemma_2(2, 64).first, 128);
}
CASE("1 / sqrt(L) has the exponent -1/2", "The slope of ln y over ln L.") {
  near("p", answer.exponent({4, 16, 64}, {6, 3, 1.5}), -0.5);
}
CASE("the constant does not matter", "Subtract both means.") {
  near("p of 100 L", answer.exponent({2, 4, 8}, {200, 400, 800}), 1);
}
CASE("all points count", "Least squares, not the first and the last point.") {
  near("p with a bend in the middle", answer.exponent({1, 2, 4, 8}, {1, 4, 4, 8}), 0.9);
}
