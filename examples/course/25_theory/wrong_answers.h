namespace {
struct How {
  bool final_norm = true, size_after_norm = false, add_up = false;
  std::int64_t of = -1;  // the block whose gradient is measured, -1 the last
  double (*length)(const Tensor& g) = [](const Tensor& g) { return g.norm().item(); };
  double (*size)(const Tensor& x) = [](const Tensor& x) { return x.square().mean().item(); };
};
Measured with(const How& how, const std::vector<Block>& blocks, const Tensor& x, bool pre, const Loss& loss) {
  Measured measured;
  Tensor y = x;
  for (const Block& block : blocks) {
    y = pre ? y + block.attention(layer_norm(y)) : layer_norm(y + block.attention(y));
    y = y + block.ffn(pre ? layer_norm(y) : y);
    if (!how.size_after_norm) measured.sizes.push_back(how.size(y));
    if (!pre) y = layer_norm(y);
    if (how.size_after_norm) measured.sizes.push_back(how.size(y));
  }
  if (pre && how.final_norm) y = layer_norm(y);
  Tensor w = (how.of < 0 ? blocks.back() : blocks[static_cast<std::size_t>(how.of)]).W2;
  if (how.add_up) loss(y).backward();
  measured.gradient = how.length(how.add_up ? w.grad() : grad(loss(y), {w})[0]);
  return measured;
}
}  // namespace

#define MEASURE(...)                                                                                \
  using solution::lemma_2, solution::exponent;                                                      \
  Measured measure(const std::vector<Block>& blocks, const Tensor& x, bool pre, const Loss& loss) { \
    return with(__VA_ARGS__, blocks, x, pre, loss);                                                 \
  }
namespace sizes_after_the_norm {
MEASURE(How{.size_after_norm = true})
}  // namespace sizes_after_the_norm
MUTANT(sizes_after_the_norm, "Post-LN: sizes before the norm")

namespace lengths_for_sizes {
MEASURE(How{.size = [](const Tensor& z) { return z.norm(2, -1).mean().item(); }})
}  // namespace lengths_for_sizes
MUTANT(lengths_for_sizes, "Pre-LN: sizes after each block", "Post-LN: sizes before the norm")

namespace not_divided_by_d {
MEASURE(How{.size = [](const Tensor& z) { return z.square().sum(-1).mean().item(); }})
}  // namespace not_divided_by_d
MUTANT(not_divided_by_d, "Pre-LN: sizes after each block", "Post-LN: sizes before the norm")

namespace missing_final_norm {
MEASURE(How{.final_norm = false})
}  // namespace missing_final_norm
MUTANT(missing_final_norm, "Pre-LN: the final norm divides the gradient")

namespace of_the_first_block {
MEASURE(How{.of = 0})
}  // namespace of_the_first_block
MUTANT(of_the_first_block, "the gradient is that of the last block")

namespace root_mean_square {
MEASURE(How{.length = [](const Tensor& g) { return g.square().mean().sqrt().item(); }})
}  // namespace root_mean_square
MUTANT(root_mean_square, "the gradient is a norm", "the gradient is that of the last block")

namespace squared_norm {
MEASURE(How{.length = [](const Tensor& g) { return g.square().sum().item(); }})
}  // namespace squared_norm
MUTANT(squared_norm, "the gradient is a norm", "the gradient is that of the last block",
       "Pre-LN: the final norm divides the gradient")

namespace gradients_add_up {
MEASURE(How{.add_up = true})
}  // namespace gradients_add_up
MUTANT(gradients_add_up, "a second measurement is like the first")

namespace writes_into_x {
using solution::lemma_2, solution::exponent;
Measured measure(const std::vector<Block>& blocks, const Tensor& x, bool pre, const Loss& loss) {
  if (!pre) return solution::measure(blocks, x, pre, loss);
  Measured measured;
  Tensor y = x;
  for (const Block& block : blocks) {
    const Tensor a = block.attention(layer_norm(y));
    if (y.requires_grad())
      y = y + a;
    else
      y += a;
    y = y + block.ffn(layer_norm(y));
    measured.sizes.push_back(y.square().mean().item());
  }
  measured.gradient = grad(loss(layer_norm(y)), {blocks.back().W2})[0].norm().item();
  return measured;
}
}  // namespace writes_into_x
MUTANT(writes_into_x, "the inputs are as before")
#undef MEASURE

#define LEMMA_2(LOW, HIGH)                                     \
  using solution::measure, solution::exponent;                 \
  bool lemma_2(const std::vector<double>& sizes) {             \
    for (int i = 0; i < static_cast<int>(sizes.size()); ++i) { \
      const int l = i + 1;                                     \
      if (sizes[i] < (LOW) || sizes[i] > (HIGH)) return false; \
    }                                                          \
    return true;                                               \
  }
namespace exponential_growth {
LEMMA_2(std::pow(1.5, l), std::pow(2.5, l))
}  // namespace exponential_growth
MUTANT(exponential_growth, "Lemma 2 grows linearly with the block", "Lemma 2: the bounds of each block")

namespace whole_numbers {
LEMMA_2(1 + l / 2, 1 + 3 * l / 2)
}  // namespace whole_numbers
MUTANT(whole_numbers, "Lemma 2: the bounds of each block", "Lemma 2: every block counts")

namespace blocks_from_0 {
LEMMA_2(1 + (l - 1) / 2.0, 1 + 3 * (l - 1) / 2.0)
}  // namespace blocks_from_0
MUTANT(blocks_from_0, "Lemma 2: the bounds of each block", "Lemma 2 grows linearly with the block",
       "Lemma 2: every block counts")

namespace upper_bound_only {
LEMMA_2(0, 1 + 3 * l / 2.0)
}  // namespace upper_bound_only
MUTANT(upper_bound_only, "Lemma 2: the bounds of each block", "Lemma 2 grows linearly with the block",
       "Lemma 2: every block counts")
#undef LEMMA_2

namespace last_block_only {
using solution::measure, solution::exponent;
bool lemma_2(const std::vector<double>& sizes) {
  const double l = static_cast<double>(sizes.size());
  return sizes.back() >= 1 + l / 2 && sizes.back() <= 1 + 3 * l / 2;
}
}  // namespace last_block_only
MUTANT(last_block_only, "Lemma 2: every block counts")

namespace not_in_logarithms {
using solution::measure, solution::lemma_2;
double exponent(const std::vector<double>& L, const std::vector<double>& y) {
  const Tensor u = from_vector(L), w = from_vector(y), du = u - u.mean();
  return ((du * (w - w.mean())).sum() / du.square().sum()).item();
}
}  // namespace not_in_logarithms
MUTANT(not_in_logarithms, "1 / sqrt(L) has the exponent -1/2", "the constant does not matter",
       "all points count")

namespace through_the_origin {
using solution::measure, solution::lemma_2;
double exponent(const std::vector<double>& L, const std::vector<double>& y) {
  const Tensor u = from_vector(L).log(), w = from_vector(y).log();
  return ((u * w).sum() / u.square().sum()).item();
}
}  // namespace through_the_origin
MUTANT(through_the_origin, "1 / sqrt(L) has the exponent -1/2", "the constant does not matter",
       "all points count")

namespace ends_only {
using solution::measure, solution::lemma_2;
double exponent(const std::vector<double>& L, const std::vector<double>& y) {
  return std::log(y.back() / y.front()) / std::log(L.back() / L.front());
}
}  // namespace ends_only
MUTANT(ends_only, "all points count")
