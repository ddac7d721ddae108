// The blocks of the models, side by side: docs/pictures/models.svg.

#include "docs/draw/drawing.h"

namespace gradus::docs {

namespace {

struct Block {
  std::string name;
  std::vector<std::string> words;
  std::vector<Joint> joints;
};

std::vector<Block> blocks() {
  const Box ln{"LN", Ink::blue}, rms{"RMSNorm", Ink::blue}, on{"LN", Ink::orange};
  const Box attention{"attention"}, memory{"to memory"};
  const auto post = [&](const Box& f) { return Joint{.branch = {f}, .after = {on}}; };
  const auto pre = [&](const Box& norm, const Box& f) { return Joint{.branch = {norm, f}}; };
  return {{"2017, encoder", {"BERT's too, with GELU", ""}, {post(attention), post({"ReLU FFN"})}},
          {"2017, decoder",
           {"memory: output of", "the encoder"},
           {post(attention), post(memory), post({"ReLU FFN"})}},
          {"GPT-1", {"sees the past", ""}, {post(attention), post({"GELU FFN"})}},
          {"GPT-2, GPT-3",
           {"sees the past; GPT-3:", "every second a band"},
           {pre(ln, attention), pre(ln, {"GELU FFN"})}},
          {"Llama", {"sees the past; q and k", "are rotated"}, {pre(rms, attention), pre(rms, {"SwiGLU"})}},
          {"T5, decoder",
           {"its encoder: without", "the one in the middle"},
           {pre(rms, attention), pre(rms, memory), pre(rms, {"FFN"})}}};
}

}  // namespace

std::string model_drawings() {
  constexpr double column = 225, height = 540;
  Drawing d;
  const std::vector<Block> all = blocks();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double left = column * static_cast<double>(i % 3) + 12, y = height * static_cast<double>(i / 3);
    d.text(left, y + 34, all[i].name, "head");
    for (std::size_t line = 0; line < all[i].words.size(); ++line)
      d.text(left, y + 56 + 19 * static_cast<double>(line), all[i].words[line], "soft");
    draw_joints(d, left + 38, y + height - 40, y + 100, 118, all[i].joints);
    d.text(left + 38, y + height - 22, "x", "mid head");
  }
  return d.svg(3 * static_cast<int>(column), 2 * static_cast<int>(height), "Blocks of the models",
               "Six blocks. The original Transformer's, which is BERT's, and GPT-1's have LN on the stream, "
               "after each "
               "sum. GPT-2's, Llama's and T5's leave the stream untouched, with LN or RMSNorm on each "
               "branch; decoders "
               "have a middle branch, attention over memory.");
}

}  // namespace gradus::docs
