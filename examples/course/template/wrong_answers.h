namespace only_the_sum {
Tensor mean_of(const Tensor& x) { return x.sum(); }
}  // namespace only_the_sum
MUTANT(only_the_sum, "the mean of three values")
