#include "learn/learn.h"

// Positions for long sequences: rotary positions, a window, ALiBi. About 15 lines.
//
// rotate: x is [T, D], and row t is position t, from 0. Channels i and i + D/2, for i < D/2, are a pair,
// which is rotated by the angle t base^(-2i/D). The sense of rotation is from channel i to channel i + D/2: a
// quarter turn makes (0, 1) of (1, 0). What are the two new values of a pair?
//
// window and alibi are [T, T], query i by key j. window is 1 where the query may see the key, else 0: it sees
// itself and the w - 1 keys before it.
//
// ALiBi (Press et al. 2022) is added to the scores: it lowers a key's score by m for every position that the
// key lies before the query. Keys in the future get 0, since the mask hides them.
//
// Forbidden: rope, alibi_slopes.
// Useful: arange(T).to(f64), unsqueeze(1), outer(a, b), cos, sin, x.slice(1, 0, D / 2), cat({a, b}, 1), tril.

Tensor rotate(const Tensor& x, double base) { return todo(x, base); }

Tensor window(std::int64_t T, std::int64_t w) { return todo(T, w); }

Tensor alibi(std::int64_t T, double m) { return todo(T, m); }
