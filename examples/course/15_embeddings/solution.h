#include "learn/learn.h"

Tensor embed(const Tensor& ids, const Tensor& table) { return table[ids]; }

Tensor embed_backward(const Tensor& ids, const Tensor& dy, std::int64_t V) {
  return index_add(zeros({V, dy.size(1)}), 0, ids, dy);
}

Tensor positions(std::int64_t T, std::int64_t C) {
  Tensor P = zeros({T, C});
  for (std::int64_t t = 0; t < T; ++t)
    for (std::int64_t c = 0; c < C; c += 2) {
      const double angle =
          static_cast<double>(t) / std::pow(10000, static_cast<double>(c) / static_cast<double>(C));
      P[t][c] = std::sin(angle);
      P[t][c + 1] = std::cos(angle);
    }
  return P;
}
