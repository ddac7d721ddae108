// Attention's kernels on a million scores, on every instruction set.

#include "attention_check.h"

namespace gradus::test {
namespace {

TEST_CASE_TEMPLATE("attention's kernels are accurate on a million values", T, float, double) {
  const ScoreTile<T> tile(1000, 1000, 1, 1, 3);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    check_attention_exp(table, tile, 512, 0);
    check_attention_weights(table, tile, 0);
    check_attention_score_grad(table, tile, 512, 0);
    check_attention_output(table, 1000, 1000, 0);
    check_attention_delta(table, 1000, 1000, 0);
  });
}

}  // namespace
}  // namespace gradus::test
