#include "learn/learn.h"

// Splitting channels into heads, and merging them. About 5 lines.
//
//   split_heads:  x [B, T, C]  ->  [B, H, T, D], D = C / H
//   merge_heads:  x [B, H, T, D]  ->  [B, T, C]                the inverse
//
// Head h owns the channels from h D to (h + 1) D - 1.
//
// split_heads copies nothing: its result is a view of x. Two axes are exchanged; a view() alone gives the
// right shape and the wrong values.
//
// Forbidden: nothing. Useful: view, transpose(1, 2), reshape, x.size(axis).

Tensor split_heads(const Tensor& x, std::int64_t H) { return todo(x, H); }

Tensor merge_heads(const Tensor& x) { return todo(x); }
