#include "learn/learn.h"

// Embeddings, their gradient, and sinusoidal positions. About 12 lines.
//
// `embed` gives each token its row of the table: id v gets row v. `embed_backward` is its backward: what
// does a row get whose token occurs twice in the text, and what does a row get whose token does not occur?
//
// `positions` are those of Vaswani et al. 2017:
//
//   P[t][2i] = sin(t / 10000^(2i/C))        P[t][2i + 1] = cos(t / 10000^(2i/C))
//
// t counts from 0, and i from 0 to C/2 - 1. C is even.
//
// Forbidden: embedding, backward and grad. Useful: x[ids], index_add(x, axis, ids, rows), zeros;
// P[t][c] = number writes an element.

/// ids [T] (i64), table [V, C] -> [T, C].
Tensor embed(const Tensor& ids, const Tensor& table) { return todo(ids, table); }

/// Returns dtable [V, C], given dy [T, C].
Tensor embed_backward(const Tensor& ids, const Tensor& dy, std::int64_t V) { return todo(ids, dy, V); }

/// Returns P [T, C].
Tensor positions(std::int64_t T, std::int64_t C) { return todo(T, C); }
