#pragma once
// Checks of layers' options and inputs. For a dtype of bf16, a weight's, x is f32.

#include <cstdint>
#include <string>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::nn {

/// x [..., size] of the dtype, else "Linear: expects x [..., 64], got [8, 65]"; `what` names the argument.
void expect_last_axis(const char* layer, const char* what, const Tensor& x, std::int64_t size, DType dtype);
/// x [B, T, size] of the dtype, else "PreLNBlock: expects x [B, T, 64], got [8, 64]: ...".
void expect_sequence(const char* layer, const char* what, const Tensor& x, std::int64_t size, DType dtype);
/// The same for the memory of attention; if it looks like a mask, the message says how to pass one: `call`.
void expect_memory(const char* layer, const Tensor& memory, std::int64_t size, DType dtype, const char* call);
/// x with `size` channels along `axis`, else "BatchNorm: expects x of 8 channels along axis 1, got [2, 7]".
void expect_channels(const char* layer, const Tensor& x, std::int64_t axis, std::int64_t size, DType dtype);
/// x [B, C, T] for one dimension, [B, C, H, W] for two, of `channels` (0: any) and the dtype.
void expect_image(const char* layer, const Tensor& x, int dimensions, std::int64_t channels, DType dtype);
/// [C] in a shape that broadcasts to x, whose channels lie along `axis`: [1, C, 1, 1].
Shape channel_shape(const Tensor& x, std::int64_t axis, std::int64_t size);
/// x and memory of a decoder or one of its blocks.
void expect_decoder_inputs(const char* layer, const Tensor& x, const Tensor& memory, std::int64_t size,
                           DType dtype);
/// A weight of two axes to build a layer on, else "Linear: expects a weight [out, in], got [3]".
void expect_table(const char* layer, const char* axes, const Tensor& weight);
/// ids of i64, else "Embedding: expects ids of i64, got f32 [8]: convert with .to(i64)".
void expect_ids(const char* layer, const char* what, const Tensor& ids);
/// The same, each of them from 0 to vocab - 1, else "GPT: token 70 of ids, at [0, 3], is outside its vocab of
/// 65: expects 0 to 64" and the remedy.
void expect_tokens(const char* layer, const char* what, const Tensor& ids, std::int64_t vocab,
                   const std::string& remedy = "");
/// Targets [B, T] that can follow ids [B, T], else "GPT: targets [4, 8] are the ids ...". Equal values are
/// accepted where equal tokens can follow each other: a text of one repeated token, or several, [1, 1, 2, 2].
void expect_next_tokens(const char* layer, const Tensor& ids, const Tensor& targets);
/// Tokens in 0 .. vocab - 1, else "GPT: generate expects stop tokens in 0 .. 64, its vocabulary, got 65".
void expect_stop(const std::string& caller, const std::vector<std::int64_t>& stop, std::int64_t vocab);
/// "Linear: expects in of 1 or more, got 0"
void expect_positive(const char* layer, const char* what, std::int64_t value);
/// "Dropout: expects p from 0 to 1, got 1.5"
void expect_probability(const char* layer, const char* what, double p);
/// "LayerNorm: expects eps of 0 or more, got -1"
void expect_eps(const char* layer, double eps);
/// A d_model that heads divides, else "GPT: d_model 65 is not divisible by heads 4", or a given head_dim.
void expect_heads(const char* layer, std::int64_t d_model, std::int64_t heads, std::int64_t head_dim);
template <class Options>
void expect_heads(const char* layer, const Options& o) {
  expect_heads(layer, o.d_model, o.heads, o.head_dim);
}
/// "PreLNBlock: norm is empty: ..."
void expect_norm(const char* layer, bool given);
/// Checks the options of a block; messages use the name of the user's layer, which is returned.
template <class Options>
const std::string& expect_block_options(const std::string& layer, const Options& o) {
  const char* const name = layer.c_str();
  expect_heads(name, o);
  if (o.d_ff != 0) expect_positive(name, "d_ff", o.d_ff);  // 0 means 4 d_model
  expect_probability(name, "dropout", o.dropout);
  expect_eps(name, o.eps);
  expect_norm(name, o.norm != nullptr);
  expect_positive(name, "window_every", o.window_every);
  return layer;
}

}  // namespace gradus::nn
