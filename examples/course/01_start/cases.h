struct Answer {
  std::vector<double> (*times)(const std::vector<std::vector<double>>& A, const std::vector<double>& x);
  double (*slope)(const std::vector<double>& x, const std::vector<double>& y);
};
#define ANSWER(FROM) \
  { FROM::times, FROM::slope }

CASE("row i gives element i", "A_ij x_j is summed over j, the index within the row.") {
  near("of a square matrix", answer.times({{0, 1}, {0, 0}}, {5, 7}), std::vector<double>{7, 0});
}
CASE("products are summed", "Multiply first, then add.") {
  near("of a symmetric matrix", answer.times({{2, 3}, {3, 1}}, {5, 7}), std::vector<double>{31, 22});
  near("of a symmetric matrix", answer.times({{0.5, 2}, {2, 0.25}}, {1, 3}), std::vector<double>{6.5, 2.75});
}
CASE("each row gives one number", "The result has as many elements as A has rows.") {
  near("of a matrix with one row", answer.times({{0, 0, 3}}, {1, 1, 2}), std::vector<double>{6});
}
CASE("a slope is rise over run", "The change of y divided by the change of x.") {
  near("the slope from (0, 1) to (4, 3)", answer.slope({0, 4}, {1, 3}), 0.5);
  near("the slope from (0, 1) to (2, 1.75)", answer.slope({0, 2}, {1, 1.75}), 0.375);
}
CASE("whole numbers are divided exactly", "In C++ 1 / 2 is 0: divide doubles.") {
  near("the slope from (0, 0) to (3, 1)", answer.slope({0, 3}, {0, 1}), 1.0 / 3);
}
CASE("only the ends count", "Use front() and back().") {
  near("the slope with a point between", answer.slope({0, 1, 2}, {0, 10, 4}), 2);
  near("the slope from (1, 5) over (2, 0) to (4, 2)", answer.slope({1, 2, 4}, {5, 0, 2}), -1);
}
