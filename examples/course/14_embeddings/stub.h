#include "learn/learn.h"

// Embeddings, their gradient, and sinusoidal positions. About 12 lines.
//
//   embed:             y_t = table[id_t]                       a row for each token
//   embed_backward:    dtable[v] = sum of dy_t over all t with id_t = v
//   positions:         P[t][2i] = sin(t / 10000^(2i/C))        P[t][2i + 1] = cos(t / 10000^(2i/C))
//
// t counts from 0, and i from 0 to C/2 - 1. A token that occurs twice in the text gets the sum of both
// gradients.
//
// Forbidden: embedding, backward and grad. Useful: table[ids], index_add(x, 0, ids, rows), zeros;
// P[t][c] = number writes an element.

/// ids [T] (i64), table [V, C] -> [T, C].
Tensor embed(const Tensor& ids, const Tensor& table) { return todo(ids, table); }

/// Returns dtable [V, C], given dy [T, C].
Tensor embed_backward(const Tensor& ids, const Tensor& dy, std::int64_t V) { return todo(ids, dy, V); }

/// Returns P [T, C].
Tensor positions(std::int64_t T, std::int64_t C) { return todo(T, C); }
