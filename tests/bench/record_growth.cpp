// How cost grows with T, depth, width and threads.

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/in_turn.h"
#include "bench/record.h"
#include "bench/written_out.h"
#include "gradus/gradus.h"

namespace gradus::bench {

namespace {

using Json = nlohmann::ordered_json;

/// A training step of an encoder on 16 x 64 tokens, with Adam.
Step encoder_step(std::int64_t layers, std::int64_t width) {
  const nn::TransformerEncoder model({.layers = layers, .block = {.d_model = width, .heads = width / 16}});
  auto opt = std::make_shared<optim::Adam>(model.parameters(), optim::AdamOptions{.lr = 1e-4});
  return [=, x = randn({16, 64, width})] {
    opt->zero_grad();
    model(x).square().mean().backward();
    opt->step();
  };
}

Json encoder_row(const char* axis, std::int64_t value, std::int64_t layers, std::int64_t width) {
  const Figures f = in_turn({{"", [=] { return encoder_step(layers, width); }}})[0];
  return {{axis, value}, {"seconds", f.seconds}, {"bytes", static_cast<double>(f.peak_bytes)}};
}

Variant attention(std::int64_t tokens, AttentionOp op) {
  return {"", [=] { return attention_step(tokens, op); }};
}

void put(Json& row, const char* name, const Figures& figures) {
  row[std::string(name) + "_s"] = figures.seconds;
  row[std::string(name) + "_bytes"] = static_cast<double>(figures.peak_bytes);
}

}  // namespace

Json record_attention() {
  Json rows = Json::array();
  for (std::int64_t tokens = 128; tokens <= 16384; tokens *= 2) {
    std::vector<Variant> variants = {attention(tokens, attention_fused)};
    if (tokens <= 4096) variants.push_back(attention(tokens, attention_written_out));  // then: 2 GiB an array
    const auto figures = in_turn(variants, {.rounds = tokens <= 4096 ? 3 : 1});
    Json row = {{"tokens", tokens}};
    put(row, "fused", figures[0]);
    if (figures.size() > 1) put(row, "written_out", figures[1]);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json record_depth() {
  Json rows = Json::array();
  for (const std::int64_t layers : {1, 2, 4, 8, 12, 24, 48})
    rows.push_back(encoder_row("layers", layers, layers, 64));
  return rows;
}

Json record_width() {
  Json rows = Json::array();
  for (const std::int64_t width : {32, 64, 128, 256, 512, 1024})
    rows.push_back(encoder_row("width", width, 4, width));
  return rows;
}

Json record_threads() {
  Json rows = Json::array();
  for (const char* name :
       {"char-gpt", "encoder-12", "gpt2-124m", "attention-1024", "layernorm", "tiny-ops"}) {
    const Case c = case_called(name);
    const Step step = c.make();  // one model for all
    const auto make = [&] { return step; };
    std::vector<Variant> variants;
    for (const int threads : {1, 2, 3, 4}) variants.push_back({"", make, [=] { set_num_threads(threads); }});
    const auto figures = in_turn(variants);
    for (int threads = 1; threads <= 4; ++threads)
      rows.push_back({{"case", name}, {"threads", threads}, {"seconds", figures[threads - 1].seconds}});
  }
  return rows;
}

}  // namespace gradus::bench
