// A custom placement: Peri-LN in a few lines, in a GPT that learns a sentence and writes it.
//
//   Pre-LN    x + f(LN(x))
//   Post-LN   LN(x + f(x))
//   Peri-LN   x + LN(f(LN(x)))      a norm on either side of the branch (Kim et al. 2025)
// A placement connects one branch f, attention or FFN, to the stream x. A block is two such connections.

#include <algorithm>
#include <cstdio>
#include <string>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [peri]
struct PeriLN : nn::Module {
  explicit PeriLN(const nn::BlockOptions& o)
      : before(add("before", o.new_norm())), after(add("after", o.new_norm())) {}

  Tensor operator()(const Tensor& x, const nn::Branch& f) const {
    return x + after(f(before(x)));  // x + LN(f(LN(x)))
  }

  nn::Norm before, after;
};

nn::Placement peri_ln() { return nn::placement<PeriLN>({.name = "My Peri-LN", .final_norm = true}); }
// [/peri]

// [mix]
/// Post-LN below, Pre-LN above (Li et al. 2024): a block for each layer.
nn::Placement mix_ln() {
  return {.name = "My Mix-LN", .final_norm = true, .block = [](const nn::BlockOptions& o) -> nn::AnyBlock {
            if (o.layer < o.layers / 4) return nn::PostLNBlock(o);
            return nn::PreLNBlock(o);
          }};
}
// [/mix]

const std::string kText = "in front a norm, behind it a norm, and a stream that runs through every block; ";

/// Character ids: the index of each in the sorted alphabet of the text.
const std::string kAlphabet = [] {
  std::string letters = kText;
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  return letters;
}();

Tensor to_ids(const std::string& text) {
  std::vector<std::int64_t> ids;
  for (const char letter : text) ids.push_back(static_cast<std::int64_t>(kAlphabet.find(letter)));
  return from_vector(ids, {static_cast<std::int64_t>(ids.size())});
}

std::string to_text(const Tensor& ids) {
  std::string text;
  for (const std::int64_t id : ids.to_vector<std::int64_t>()) text += kAlphabet[static_cast<std::size_t>(id)];
  return text;
}

// [learn]
/// A GPT that has read the sentence 200 times, starting at every character.
nn::GPT learn(const nn::Placement& placement) {
  constexpr std::int64_t T = 16;
  manual_seed(0);
  const nn::GPT gpt({.vocab = static_cast<std::int64_t>(kAlphabet.size()),
                     .context = T,
                     .layers = 4,
                     .placement = placement,
                     .block = {.d_model = 32, .heads = 2}});
  optim::Adam opt(gpt.parameters(), {.lr = optim::warmup_linear(2e-3, 50)});
  const std::string again = kText + kText.substr(0, T);  // a window starts at every character
  const auto [inputs, targets] = data::text_windows(to_ids(again), T);
  for (int step = 0; step < 200; ++step) {
    const Tensor loss = gpt.loss(inputs, targets);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  return gpt;
}
// [/learn]

}  // namespace

int main() {
  const nn::Block<PeriLN> block({.d_model = 4, .heads = 1});
  std::printf("The norms of a Peri-LN block:\n");
  for (const auto& [key, values] : block.state_dict())
    if (key.starts_with("norm")) std::printf("  %s\n", key.c_str());

  std::printf("\nEach continues the text \"in front \":\n");
  for (const nn::Placement& placement : {nn::pre_ln(), nn::post_ln(), peri_ln(), mix_ln()}) {
    const nn::GPT gpt = learn(placement);
    const Tensor written = gpt.generate(to_ids("in front "), 75, {.greedy = true});
    std::printf("  %-10s %s\n", placement.name.c_str(), to_text(written).c_str());
  }
}
