namespace view_alone {
using solution::merge_heads;
Tensor split_heads(const Tensor& x, std::int64_t H) {
  return x.view({x.size(0), H, x.size(1), x.size(2) / H});
}
}  // namespace view_alone
MUTANT(view_alone, "a token keeps its values")

namespace channels_in_turn {
using solution::merge_heads;
Tensor split_heads(const Tensor& x, std::int64_t H) {
  return x.view({x.size(0), x.size(1), x.size(2) / H, H}).permute({0, 3, 1, 2});
}
}  // namespace channels_in_turn
MUTANT(channels_in_turn, "a head owns neighbouring channels")

namespace copied {
using solution::merge_heads;
Tensor split_heads(const Tensor& x, std::int64_t H) {
  return solution::split_heads(x, H).contiguous().clone();
}
}  // namespace copied
MUTANT(copied, "nothing is copied")

namespace not_transposed {
using solution::merge_heads;
Tensor split_heads(const Tensor& x, std::int64_t H) {
  return x.view({x.size(0), x.size(1), H, x.size(2) / H});
}
}  // namespace not_transposed
MUTANT(not_transposed, "the shape is [B, H, T, D]", "a token keeps its values",
       "a head owns neighbouring channels")

namespace merged_by_reshape_alone {
using solution::split_heads;
Tensor merge_heads(const Tensor& x) { return x.reshape({x.size(0), x.size(2), x.size(1) * x.size(3)}); }
}  // namespace merged_by_reshape_alone
MUTANT(merged_by_reshape_alone, "merging: a token gets its channels back")

namespace heads_left_apart {
using solution::split_heads;
Tensor merge_heads(const Tensor& x) { return x.transpose(1, 2); }
}  // namespace heads_left_apart
MUTANT(heads_left_apart, "merging: the shape is [B, T, C]")
