namespace {
Tensor with(std::int64_t T, std::int64_t C, std::int64_t first, double two, bool halves) {
  std::vector<Tensor> sines, cosines;
  const Tensor t = (arange(T) + first).to(f64);
  std::vector<Tensor> columns;
  for (std::int64_t i = 0; i < C / 2; ++i) {
    const Tensor angle = t / std::pow(10000, two * static_cast<double>(i) / static_cast<double>(C));
    sines.push_back(sin(angle)), cosines.push_back(cos(angle));
    columns.push_back(sin(angle)), columns.push_back(cos(angle));
  }
  if (!halves) return stack(columns, 1);
  sines.insert(sines.end(), cosines.begin(), cosines.end());
  return stack(sines, 1);
}
}  // namespace

namespace all_sines_first {
using solution::embed, solution::embed_backward;
Tensor positions(std::int64_t T, std::int64_t C) { return with(T, C, 0, 2, true); }
}  // namespace all_sines_first
MUTANT(all_sines_first, "sine and cosine alternate", "the wave lengths go up to 10000 * 2 pi")

namespace positions_from_1 {
using solution::embed, solution::embed_backward;
Tensor positions(std::int64_t T, std::int64_t C) { return with(T, C, 1, 2, false); }
}  // namespace positions_from_1
MUTANT(positions_from_1, "positions count from 0", "sine and cosine alternate",
       "the wave lengths go up to 10000 * 2 pi")

namespace exponent_i_over_c {
using solution::embed, solution::embed_backward;
Tensor positions(std::int64_t T, std::int64_t C) { return with(T, C, 0, 1, false); }
}  // namespace exponent_i_over_c
MUTANT(exponent_i_over_c, "the wave lengths go up to 10000 * 2 pi")

namespace last_one_wins {
using solution::embed, solution::positions;
Tensor embed_backward(const Tensor& ids, const Tensor& dy, std::int64_t V) {
  Tensor dtable = zeros({V, dy.size(1)});
  for (std::int64_t t = 0; t < dy.size(0); ++t) dtable[ids[t].item<std::int64_t>()] = dy[t];
  return dtable;
}
}  // namespace last_one_wins
MUTANT(last_one_wins, "a token that occurs twice gets the sum")

namespace everybody_gets_it {
using solution::embed, solution::positions;
Tensor embed_backward(const Tensor&, const Tensor& dy, std::int64_t V) {
  return dy.sum(0, true).expand({V, dy.size(1)});
}
}  // namespace everybody_gets_it
MUTANT(everybody_gets_it, "a token that does not occur gets 0", "a token that occurs twice gets the sum")

namespace columns_for_rows {
using solution::embed_backward, solution::positions;
Tensor embed(const Tensor& ids, const Tensor& table) { return table.t()[ids]; }
}  // namespace columns_for_rows
MUTANT(columns_for_rows, "a token is a row of the table")

namespace an_exponent_for_each_channel {
using solution::embed, solution::embed_backward;
Tensor positions(std::int64_t T, std::int64_t C) {
  Tensor P = zeros({T, C});
  for (std::int64_t t = 0; t < T; ++t)
    for (std::int64_t c = 0; c < C; ++c) {
      const double angle =
          static_cast<double>(t) / std::pow(10000, static_cast<double>(c) / static_cast<double>(C));
      P[t][c] = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return P;
}
}  // namespace an_exponent_for_each_channel
MUTANT(an_exponent_for_each_channel, "the wave lengths go up to 10000 * 2 pi")

namespace off_the_tape {
using solution::embed_backward, solution::positions;
Tensor embed(const Tensor& ids, const Tensor& table) { return table.detach()[ids]; }
}  // namespace off_the_tape
MUTANT(off_the_tape, "the gradient reaches the table")
