// Messages of invalid calls: the user's layer, the requirement, the arguments, the remedy.

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "check_op.h"
#include "gradus/nn/nn.h"

using namespace gradus;
using test::check_error;

namespace {

struct Case {
  std::function<void()> call;
  std::string message;
};

void check_all(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.message);
    check_error(c.call, c.message);
  }
}

/// All modules below are parts of one model.
struct Model : nn::Module {
  nn::Linear fc = add("fc", nn::Linear(8, 4));
  nn::Embedding embedding = add("embedding", nn::Embedding(5, 8));
  nn::LayerNorm norm = add("norm", nn::LayerNorm(8));
  nn::LayerNorm plain_norm = add("plain", nn::LayerNorm(8, {.affine = false}));
  nn::Dropout dropout = add("dropout", nn::Dropout(0.5));
  nn::FFN ffn = add("ffn", nn::FFN({.d_model = 8}));
  nn::MultiheadAttention attention = add("attention", nn::MultiheadAttention({.d_model = 8, .heads = 2}));
  nn::PreLNBlock block = add("block", nn::PreLNBlock({.d_model = 8, .heads = 2}));
  nn::PostLNDecoderBlock decoder_block =
      add("decoder_block", nn::PostLNDecoderBlock({.d_model = 8, .heads = 2}));
  nn::TransformerEncoder encoder =
      add("encoder", nn::TransformerEncoder({.layers = 1, .block = {.d_model = 8, .heads = 2}}));
  nn::TransformerDecoder decoder =
      add("decoder", nn::TransformerDecoder({.layers = 1, .block = {.d_model = 8, .heads = 2}}));
  nn::GPT gpt =
      add("gpt", nn::GPT({.vocab = 5, .context = 4, .layers = 1, .block = {.d_model = 8, .heads = 2}}));
};

const std::string kMask = ": pass a mask by its name: ";
const std::string kAttentionMask =
    kMask + "attention(x, {.key_padding_mask = padding}), or .visible, or .score_bias";
const std::string kDecoderMask = kMask + "decoder(x, memory, {.memory = {.key_padding_mask = padding}})";
const std::string kBatch = ": add a batch axis with .unsqueeze(0)";

}  // namespace

TEST_CASE("messages: a mask in place of memory") {
  const Model m;
  const Tensor x = randn({2, 3, 8}), padding = zeros({2, 3}, boolean);
  const std::string expects = ": expects memory [B, T, 8] of f32, got ";
  const auto attention = [&](const std::string& got) {
    return "MultiheadAttention" + expects + got + kAttentionMask + " (in attention)";
  };
  check_all({
      {[&] { m.attention(x, padding); }, attention("bool [2, 3]")},
      {[&] { m.attention(x, {padding}); }, attention("bool [2, 3]")},
      {[&] { m.attention(x, padding.to(i64)); }, attention("i64 [2, 3]")},
      {[&] {
         m.attention(x, zeros({3, 3}));
       },
       attention("f32 [3, 3]")},
      {[&] {
         m.attention(x, ones({3, 3}, boolean));
       },
       attention("bool [3, 3]")},
      {[&] {
         m.attention(x, ones({2, 3, 8}, boolean));
       },
       attention("bool [2, 3, 8]")},
      {[&] {
         m.attention(x, ones({2, 1, 3, 3}));
       },
       attention("f32 [2, 1, 3, 3]")},
      {[&] { m.attention.with_weights(x, padding); }, attention("bool [2, 3]")},
      {[&] {
         m.attention(x, zeros({3, 8}));
       },
       "MultiheadAttention: expects memory [B, T, 8], got [3, 8]" + kBatch + " (in attention)"},
      {[&] { m.attention(x, Tensor()); }, "MultiheadAttention: memory is an undefined tensor (in attention)"},
      {[&] { m.decoder_block(x, padding); },
       "PostLNDecoderBlock" + expects + "bool [2, 3]" + kDecoderMask + " (in decoder_block)"},
      {[&] { m.decoder(x, padding); },
       "TransformerDecoder" + expects + "bool [2, 3]" + kDecoderMask + " (in decoder)"},
  });
  m.attention(x, {.key_padding_mask = padding});
}

TEST_CASE("messages: masks of the wrong kind") {
  const Model m;
  const Tensor x = randn({2, 3, 8}), ids = zeros({2, 3}, i64);
  const std::string keys = "MultiheadAttention: expects key_padding_mask bool [2, 3] (true = padding), got ";
  const std::string visible =
      "MultiheadAttention: expects visible bool (true = may be seen), broadcast to [2, 2, 3, 3], got ";
  const std::string bias =
      "MultiheadAttention: expects score_bias f32 (added to the scores), broadcast to [2, 2, 3, 3], got ";
  check_all({
      {[&] { m.attention(x, {.key_padding_mask = ids}); },
       keys + "i64 [2, 3]: compare, as in ids == pad (in attention)"},
      {[&] {
         m.encoder(x, {.key_padding_mask = zeros({2, 3})});
       },
       keys + "f32 [2, 3]: compare, as in ids == pad (in encoder.layers.0.self_attn)"},
      {[&] {
         m.attention(x, {.visible = ones({3, 3})});
       },
       visible + "f32 [3, 3]: compare, as in mask != 0; pass values to add to the scores as score_bias (in "
                 "attention)"},
      {[&] {
         m.attention(x, {.score_bias = ones({3, 3}, boolean)});
       },
       bias + "bool [3, 3]: pass a bool mask as visible (in attention)"},
      {[&] {
         m.attention(x, {.score_bias = ones({3, 3}, f64)});
       },
       bias + "f64 [3, 3]: convert it with .to() (in attention)"},
  });
}

TEST_CASE("messages: a missing batch axis, other dtypes, undefined tensors") {
  const Model m;
  const Tensor one = randn({3, 8}), ids = zeros({2, 3}, i64), nothing;
  const auto f32_expected = [](const std::string& layer, const std::string& where) {
    return layer + ": expects x of f32, as are its parameters, got i64 [2, 3, 8]: convert with .to(f32)" +
           where;
  };
  const Tensor whole = zeros({2, 3, 8}, i64);
  check_all({
      {[&] { m.attention(one); },
       "MultiheadAttention: expects x [B, T, 8], got [3, 8]" + kBatch + " (in attention)"},
      {[&] { m.block(one); }, "PreLNBlock: expects x [B, T, 8], got [3, 8]" + kBatch + " (in block)"},
      {[&] { m.decoder_block(one, whole); },
       "PostLNDecoderBlock: expects x [B, T, 8], got [3, 8]" + kBatch + " (in decoder_block)"},
      {[&] { m.encoder(one); },
       "TransformerEncoder: expects x [B, T, 8], got [3, 8]" + kBatch + " (in encoder)"},
      {[&] { m.decoder(one, one); },
       "TransformerDecoder: expects x [B, T, 8], got [3, 8]" + kBatch + " (in decoder)"},
      {[&] { m.gpt(ids[0]); }, "GPT: expects ids [B, T], got [3]" + kBatch + " (in gpt)"},
      {[&] { m.fc(whole); }, f32_expected("Linear", " (in fc)")},
      {[&] { m.norm(whole); }, f32_expected("LayerNorm", " (in norm)")},
      {[&] { m.ffn(whole); }, f32_expected("FFN", " (in ffn)")},
      {[&] { m.block(whole); }, f32_expected("PreLNBlock", " (in block)")},
      {[&] { m.encoder(whole); }, f32_expected("TransformerEncoder", " (in encoder)")},
      {[&] { m.plain_norm(whole); },
       "LayerNorm: expects x of f32 or f64, got i64 [2, 3, 8]: convert with .to(f32) (in plain)"},
      {[&] { m.dropout(whole); },
       "Dropout: expects x of f32 or f64, got i64 [2, 3, 8]: convert with .to(f32) (in dropout)"},
      {[&] { m.embedding(one); },
       "Embedding: expects ids of i64, got f32 [3, 8]: convert with .to(i64) (in embedding)"},
      {[&] { m.gpt(one); }, "GPT: expects ids of i64, got f32 [3, 8]: convert with .to(i64) (in gpt)"},
      {[&] { m.gpt.loss(ids, ids.to(f32)); },
       "GPT: expects targets of i64, got f32 [2, 3]: convert with .to(i64) (in gpt)"},
      {[&] { m.gpt.generate(one, 1); }, "GPT: expects prompt of i64, got f32 [3, 8]: convert with .to(i64)"},
      {[&] { m.fc(nothing); }, "Linear: x is an undefined tensor (in fc)"},
      {[&] { m.dropout(nothing); }, "Dropout: x is an undefined tensor (in dropout)"},
      {[&] { m.embedding(nothing); }, "Embedding: ids is an undefined tensor (in embedding)"},
      {[&] { m.block(nothing); }, "PreLNBlock: x is an undefined tensor (in block)"},
      {[&] { m.decoder(whole.to(f32), nothing); },
       "TransformerDecoder: memory is an undefined tensor (in decoder)"},
      {[&] { m.gpt.loss(nothing, ids); }, "GPT: ids is an undefined tensor (in gpt)"},
      {[&] { m.gpt.loss(ids, nothing); }, "GPT: targets is an undefined tensor (in gpt)"},
      {[&] { m.gpt.generate(nothing, 1); }, "GPT: prompt is an undefined tensor"},
  });
  m.dropout.eval();
  check_error([&] { m.dropout(whole); },  // not only once it is trained
              "Dropout: expects x of f32 or f64, got i64 [2, 3, 8]: convert with .to(f32) (in dropout)");
}

TEST_CASE("messages: errors in options name the user's layer") {
  const nn::BlockOptions odd{.d_model = 9, .heads = 2}, wet{.d_model = 8, .heads = 2, .dropout = 1.5};
  check_all({
      {[&] { nn::PreLNBlock{odd}; }, "PreLNBlock: d_model 9 is not divisible by heads 2"},
      {[&] { nn::PostLNBlock{wet}; }, "PostLNBlock: expects dropout from 0 to 1, got 1.5"},
      {[&] { nn::PreLNDecoderBlock({.d_model = 8, .heads = 2, .eps = -1}); },
       "PreLNDecoderBlock: expects eps of 0 or more, got -1"},
      {[&] { nn::TransformerEncoder({.layers = 2, .block = odd}); },
       "TransformerEncoder: d_model 9 is not divisible by heads 2"},
      {[&] { nn::TransformerDecoder({.layers = 2}); },
       "TransformerDecoder: expects d_model of 1 or more, got 0"},
      {[&] { nn::GPT({.vocab = 5, .context = 4, .layers = 1, .block = {.d_model = 8, .heads = 3}}); },
       "GPT: d_model 8 is not divisible by heads 3"},
      {[&] { nn::LayerNorm(8, {.eps = NAN}); }, "LayerNorm: expects eps of 0 or more, got nan"},
      {[&] { nn::Module("Net").add_list("l", -1, [](int) { return nn::Dropout(); }); },
       "Net: add_list expects a count of 0 or more, got -1"},
  });
}
