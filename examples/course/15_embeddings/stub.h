#include "learn/learn.h"

// Embeddings, their gradient, and sinusoidal positions. About 12 lines.
//
// `embed` gives each token its row of the table: id v gets row v. `embed_backward` is its backward: what
// does a row get whose token occurs twice in the text, and what does a row get whose token does not occur?
//
// `positions` are the sinusoidal ones of Vaswani et al. 2017: C / 2 pairs of channels, in each pair first the
// sine of an angle, then its cosine. The angle of the first pair is t, and that of a pair i = C / 2 would be
// t / 10000. Which one lies between them, so that the angles of neighbouring pairs have a constant ratio?
// t counts from 0. C is even.
//
// Forbidden: embedding, backward and grad. Useful: x[ids], index_add(x, axis, ids, rows), zeros;
// P[t][c] = number writes an element.

/// ids [T] (i64), table [V, C] -> [T, C].
Tensor embed(const Tensor& ids, const Tensor& table) { return todo(ids, table); }

/// Returns dtable [V, C], given dy [T, C].
Tensor embed_backward(const Tensor& ids, const Tensor& dy, std::int64_t V) { return todo(ids, dy, V); }

/// Returns P [T, C].
Tensor positions(std::int64_t T, std::int64_t C) { return todo(T, C); }
