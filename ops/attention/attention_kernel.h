#pragma once
// Attention on arrays, one tile of one head at a time, shared by the ops in attention.cpp and
// attention_weights.cpp. Arrays [B, H, T, D] may be any views with contiguous rows, such as parts of a
// packed projection.

#include <vector>

#include "gradus/core/array/array.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/attention/segments.h"

namespace gradus::attention {

/// The options that turn scores q k^T into weights.
struct Rule {
  double scale = 1;
  bool causal = false;
  /// [B, H, Tq, Tk], bool or float; rows contiguous or one repeated value. Undefined: none.
  Array mask = {};
  std::int64_t window = 0;          // 0: none
  std::vector<double> slopes = {};  // of each head, for ALiBi; empty: none
  double dropout = 0;
  /// Weight [b, h, i, j] is dropped by number ((b H + h) Tq + i) Tk + j from here.
  Generator::State random = {};
  TextPairs texts = {};  // without: a batch of equal lengths
  bool bf16 = false;     // operands of products are rounded to bf16

  // What the scores [B, H, Tq, Tk] would be in a batch of equal lengths.
  std::int64_t batch(const Array& q) const { return texts.queries ? texts.queries.batch() : q.size(0); }
  std::int64_t queries(const Array& q) const { return texts.queries ? texts.queries.length : q.size(2); }
  std::int64_t keys(const Array& k) const { return texts.keys ? texts.keys.length : k.size(2); }
};

/// The keys begin .. end - 1.
struct Span {
  std::int64_t begin, end;
};
/// What query i of `queries` sees of `keys` keys, but for the mask.
Span seen(const Rule& rule, std::int64_t i, std::int64_t queries, std::int64_t keys);

/// Throws naming `op` unless q [B, H, T, D] and k, of as many heads or a divisor of H, fit each other.
void check_queries_keys(const char* op, const Tensor& q, const Tensor& k);

/// The rule for scores [B, H, Tq, Tk] of q and k, with the numbers for dropout set aside. Throws naming `op`
/// on a bad mask or probability, or segments that are not of q and k.
Rule rule_of(const char* op, const AttentionOptions& options, const Array& q, const Array& k,
             const TextPairs& texts = {});

/// Reports to a profile that `q_products` products with a head's D channels and `v_products` with its Dv were
/// made for every pair that may be seen, 2 floating-point operations each; of masks only the causal one and
/// the window count.
void count_products(const Rule& rule, const Array& q, const Array& k, const Array& v, int q_products,
                    int v_products);

/// x itself, or a copy when its rows (the last axis) are not contiguous.
Array with_rows(const Array& x);

/// Two numbers of each row, [B, H, Tq], that give its weights: P = exp(S - largest) inverse, with m and 1 / l
/// of the softmax; both are 0 where a row sees no key. Added up as m + log l they would lose log l wherever m
/// is large, as where a mask of -1e9 hides all keys.
struct Normalizers {
  Array largest, inverse;
};

/// Writes out, as q with Dv channels, and the normalizers.
void forward(const Rule& rule, const Array& q, const Array& k, const Array& v, const Array& out,
             const Normalizers& normalizers);

/// Where backward writes; undefined arrays are not wanted. dscores [B, H, Tq, Tk] must be contiguous, and
/// zeros where there are segments.
struct Gradients {
  Array dq, dk, dv, dscores;
};
void backward(const Rule& rule, const Array& q, const Array& k, const Array& v, const Array& out,
              const Normalizers& normalizers, const Array& dout, const Gradients& grads);

/// The weights themselves, [B, H, Tq, Tk], without dropout.
Array weights(const Rule& rule, const Array& q, const Array& k);

}  // namespace gradus::attention
