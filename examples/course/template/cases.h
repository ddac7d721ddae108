struct Answer {
  Tensor (*mean_of)(const Tensor& x);
};
#define ANSWER(FROM) \
  { FROM::mean_of }

CASE("the mean of three values", "Divide by the number of values.") {
  near("mean of 1, 2, 6", answer.mean_of(tensor({1.0, 2.0, 6.0})), tensor(3.0));
}
CASE("the mean of one value", "The mean of one value is the value.") {
  near("mean of 5", answer.mean_of(tensor({5.0})), tensor(5.0));
}
