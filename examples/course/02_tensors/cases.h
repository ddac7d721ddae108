struct Answer {
  Tensor (*split)(const Tensor& x, std::int64_t H);
  Tensor (*merge)(const Tensor& x);
};
#define ANSWER(FROM) \
  { FROM::split_heads, FROM::merge_heads }

CASE("the shape is [B, H, T, D]", "view to [B, T, H, D], then exchange axes 1 and 2.") {
  const Shape shape = answer.split(zeros({2, 3, 8}), 4).shape();
  expect(shape == Shape{2, 4, 3, 2}, phrase("the shape is {0}, not {1}", to_string(shape), "[2, 4, 3, 2]"));
}
CASE("a token keeps its values",
     "A view() straight to [B, H, T, D] mixes tokens: split the last axis, then transpose.") {
  const Tensor x = arange(2 * 3 * 8).to(f64).reshape({2, 3, 8}), y = answer.split(x, 4);
  near("the sum of squares of token 1", y.select(0, 0).slice(1, 1, 2).square().sum().item(),
       x[0][1].square().sum().item());
}
CASE("a head owns neighbouring channels",
     "Head h has the channels h D .. (h + 1) D - 1: view({B, T, H, D}).") {
  const Tensor x = arange(8).to(f64).reshape({1, 1, 8});
  near("head 1 of 4", answer.split(x, 4).select(1, 1).flatten(), tensor({2.0, 3.0}));
}
CASE("nothing is copied", "view and transpose share the data of x.") {
  const Tensor x = randn({2, 3, 8});
  expect(answer.split(x, 2).array().storage() == x.array().storage(),
         "the result does not share the data of x");
}
CASE("merging: a token gets its channels back", "Transpose back before you reshape.") {
  const Tensor x = randn({2, 4, 3, 2});  // [B, H, T, D]
  near("token 1 of example 0", answer.merge(x).flatten().slice(0, 8, 16),
       x.select(0, 0).select(1, 1).flatten());
}
CASE("merging: the shape is [B, T, C]", "C = H D.") {
  const Shape shape = answer.merge(zeros({2, 4, 3, 2})).shape();
  expect(shape == Shape{2, 3, 8}, phrase("the shape is {0}, not {1}", to_string(shape), "[2, 3, 8]"));
}
