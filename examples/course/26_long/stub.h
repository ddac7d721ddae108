#include "learn/learn.h"

// Positions for long sequences: rotary positions, a window, ALiBi. About 15 lines.
//
//   rotate(x, base): x [T, D]; channel i < D/2 of row t is rotated with channel i + D/2 by a = t
//   base^(-2i/D):
//                    y_i = x_i cos a - x_{i+D/2} sin a        y_{i+D/2} = x_i sin a + x_{i+D/2} cos a
//   window(T, w):  [T, T], 1 where query i may see key j: 0 <= i - j < w, else 0
//   alibi(T, m):   [T, T], -m (i - j) for j <= i, 0 elsewhere: added to the scores, the further the lower
//
// Forbidden: rope, alibi_slopes. Useful: arange(T), outer(a, b), cos, sin, x.slice(1, 0, D / 2), cat({a, b},
// 1), arange(T).to(f64).unsqueeze(1) - arange(T).to(f64), tril.

Tensor rotate(const Tensor& x, double base) { return todo(x, base); }

Tensor window(std::int64_t T, std::int64_t w) { return todo(T, w); }

Tensor alibi(std::int64_t T, double m) { return todo(T, m); }
