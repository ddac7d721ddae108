// Attention by hand: an average of the values, weighted by how well keys fit a query.
//
//   S = q k^T / sqrt(D)        P = softmax(S) over the keys        out = P v
//
//   q, k, v, out [B, H, T, D]      S, P [B, H, Tq, Tk]      (Vaswani et al. 2017, section 3.2.1)

#include <cmath>
#include <cstdio>
#include <iostream>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [attention]
/// True above the diagonal: keys that come after the query.
Tensor future(std::int64_t T) { return triu(ones({T, T}), 1) == 1.0; }

Tensor weights(const Tensor& q, const Tensor& k, std::int64_t axis = -1) {
  const double D = static_cast<double>(q.size(-1));
  const Tensor scores = matmul(q, k.transpose(-2, -1)) / std::sqrt(D);
  return softmax(masked_fill(scores, future(q.size(-2)), -INFINITY), axis);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t axis = -1) {
  return matmul(weights(q, k, axis), v);
}
// [/attention]

void print(const char* what, const Tensor& x) {
  std::printf("  %-27s", what);
  for (const double value : x.to_vector<double>()) std::printf(" %7.4f", value);
  std::printf("\n");
}

void against_the_library(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::cout << "The weights P of head 0, a row for each query, a column for each key:\n"
            << weights(q, k)[0][0] << "\n\n";
  const Tensor library = scaled_dot_product_attention(q, k, v, {.causal = true});
  std::printf("By hand and by scaled_dot_product_attention: %s\n",
              ((attention(q, k, v) - library).abs() < 1e-12).all() ? "equal" : "different");
}

void which_axis(const Tensor& q, const Tensor& k) {
  const Tensor over_keys = weights(q, k, -1)[0][0], over_queries = weights(q, k, -2)[0][0];
  const Tensor v = ones({4, 1});  // every position says 1
  std::printf("\nSoftmax over which axis? Let every value be 1: an average of ones must be 1.\n");
  print("over the keys, axis -1:", matmul(over_keys, v));
  print("over the queries, axis -2:", matmul(over_queries, v));
}

// [causality]
/// How much the output at each position changes when the last token does.
Tensor influence_of_last(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t axis) {
  const std::int64_t last = q.size(-2) - 1;
  const Tensor q2 = q.clone(), k2 = k.clone(), v2 = v.clone();
  for (const Tensor& x : {q2, k2, v2}) x.select(-2, last) = 3.0;
  return (attention(q2, k2, v2, axis) - attention(q, k, v, axis)).abs().max({0, 1, 3});
}
// [/causality]

void causality(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::printf("\nNo position may see a later one. Change the last token; the outputs move by\n");
  const Tensor keys = influence_of_last(q, k, v, -1), queries = influence_of_last(q, k, v, -2);
  print("softmax over the keys:", keys);
  print("softmax over the queries:", queries);
  std::printf(
      "Over the wrong axis, later queries stand in the denominators of earlier ones, mask or no mask:\n"
      "position 0 moves by %.4f, and the model trains on what it is meant to predict.\n",
      queries[0].item());
}

void why_the_root() {
  std::printf(
      "\nWhy sqrt(D)? How far scores spread (standard deviation) and the largest weight of 16 keys "
      "(mean):\n\n"
      "    D   q k    largest   q k / sqrt(D)   largest\n");
  for (const std::int64_t D : {4, 64, 1024}) {
    // [root]
    const Tensor q = randn({200, D}), k = randn({16, D});
    const Tensor scores = matmul(q, k.t());
    const Tensor scaled = scores / std::sqrt(static_cast<double>(D));
    // [/root]
    const auto largest = [](const Tensor& s) { return softmax(s, -1).max(-1).mean().item(); };
    std::printf("%5d %5.1f %9.2f %15.1f %9.2f\n", static_cast<int>(D), scores.var().sqrt().item(),
                largest(scores), scaled.var().sqrt().item(), largest(scaled));
  }
  std::printf(
      "Without the root, a wide head starts by looking at one key, where softmax has hardly any slope.\n");
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  const Shape shape = {1, 2, 4, 8};  // B, H, T, D
  const Tensor q = randn(shape), k = randn(shape), v = randn(shape);
  against_the_library(q, k, v);
  which_axis(q, k);
  causality(q, k, v);
  why_the_root();
}
