// A model that copies learns to reverse, training all weights or few; how much it then forgets.
// Its chapter: docs/course/36_fine_tuning/README.md
#include <cmath>
#include <cstdio>
#include <map>
#include "gradus/gradus.h"
using namespace gradus;
namespace {
constexpr std::int64_t C = 32, kLetters = 8, kRank = 2;
constexpr double kAlpha = 4;
enum Task { copying, reversing };
enum Trained { everything, last_block, lora, scratch };

// [lora]
struct Model {
  std::map<std::string, Tensor> w, a, b;  // a and b are empty except with LoRA
  /// The effective matrix: W, or W + (alpha / r) B A.
  Tensor matrix(const std::string& name) const {
    if (!a.contains(name)) return w.at(name);
    return w.at(name) + (kAlpha / kRank) * matmul(b.at(name), a.at(name));
  }
};
// [/lora]
Tensor random(std::int64_t rows, double size) { return (size * randn({rows, C})).requires_grad_(); }
Model random_model() {
  Model m;
  m.w["embedding"] = random(kLetters + 2, 0.5), m.w["positions"] = random(6, 0.5);
  for (const std::string block : {"0", "1"})
    for (const char* part : {".q", ".k", ".v", ".o", ".1", ".2"})
      m.w[block + part] = random(C, std::sqrt(1.0 / C));
  return m;
}

/// Two Pre-LN blocks of one head without biases: ids [B, 6] -> logits [B, 6, letters + 2].
Tensor logits(const Model& m, const Tensor& ids) {
  Tensor x = embedding(ids, m.matrix("embedding")) + m.matrix("positions");
  for (const std::string block : {"0", "1"}) {
    const auto by = [&](const Tensor& h, const char* part) { return linear(h, m.matrix(block + part)); };
    const Tensor h = layer_norm(x).unsqueeze(1);  // one head
    const Tensor read = scaled_dot_product_attention(by(h, ".q"), by(h, ".k"), by(h, ".v"), {.causal = true});
    x = x + by(read.squeeze(1), ".o");
    x = x + by(relu(by(layer_norm(x), ".1")), ".2");
  }
  return linear(layer_norm(x), m.matrix("embedding"));
}

/// On random documents, "abc=abc" or "abc~cba": the loss of the answers, and the share of right letters.
Tensor results(const Model& m, Task task, std::int64_t count) {
  const Tensor letters = randint(0, kLetters, {count, 3}), sign = full({count, 1}, kLetters + task, i64);
  const Tensor answer = task == copying ? letters : flip(letters, {1});
  const Tensor y = logits(m, cat({letters, sign, answer}, 1).slice(1, 0, 6)).slice(1, 3);
  return stack({cross_entropy(y, answer), (y.argmax(-1) == answer).to(f64).mean()});
}

/// Until the loss is below 0.05, for 400 steps at most. `old` documents of copying are in each batch, too.
int train(const Model& m, const std::vector<Tensor>& weights, double rate, Task task, int old = 0) {
  optim::Adam adam(weights, {.lr = rate});
  int step = 0;
  for (; step < 400 && (step % 10 != 0 || results(m, task, 256)[0].item() >= 0.05); ++step) {
    adam.zero_grad();
    const Tensor loss = results(m, task, 32)[0];
    (old == 0 ? loss : loss + results(m, copying, old)[0]).backward();
    adam.step();
  }
  return step;
}

// [choose]
/// A copy of the model in which everything is frozen except the weights to be trained, and a list of these.
std::pair<Model, std::vector<Tensor>> prepared(const Model& first, Trained trained) {
  Model m = trained == scratch ? random_model() : first;
  std::vector<Tensor> weights;
  for (auto& [name, w] : m.w) {
    const bool trains = trained == last_block ? name.starts_with("1.") : trained != lora;
    w = w.detach().clone().requires_grad_(trains);
    if (trains) weights.push_back(w);
    if (trained != lora || name.find('.') == std::string::npos) continue;
    weights.push_back(m.a[name] = random(kRank, std::sqrt(1.0 / C)));
    weights.push_back(m.b[name] = zeros({C, kRank}).requires_grad_());
  }
  return {m, weights};
}
// [/choose]
/// Continues from the initial models, one for each seed.
void row(const char* name, const std::vector<Model>& firsts, Trained trained, double rate, int old = 0) {
  std::vector<Tensor> seeds;
  std::int64_t numbers = 0;
  for (const Model& first : firsts) {
    manual_seed(100 + seeds.size());
    const auto [model, weights] = prepared(first, trained);
    const double steps = train(model, weights, rate, reversing, old);
    seeds.push_back(cat({full({1}, steps), results(model, copying, 256).detach()}));
    for (const Tensor& w : weights) numbers += w.numel();
  }
  const Tensor table = stack(seeds), mean = table.mean(0), loss = table.select(1, 1);
  static const Tensor first_row = loss;  // the same initial models: differences are within a seed
  const Tensor more = loss - first_row;
  const double by = more.mean().item(), half = 2.776 * more.std().item() / std::sqrt(5.0);
  std::printf("%-19s %6.0f %6.3f %5.0f %5.1f (%.1f to %.1f) %5.0f%% %8.1f (%.1f to %.1f)\n", name,
              double(numbers) / 5, rate, mean[0].item(), mean[1].item(), loss.min().item(), loss.max().item(),
              100 * mean[2].item(), by, by - half, by + half);
}
}  // namespace

int main() {
  const DefaultDType guard(f64);
  std::vector<Model> firsts;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    manual_seed(seed);
    const auto& [model, weights] = prepared({}, scratch);
    train(firsts.emplace_back(model), weights, 0.003, copying);
  }
  std::printf(
      "Five models that copy learn to reverse, each until that loss is below 0.05:\n\n"
      "what is trained     weights rate  steps  copying: loss   right    minus the first row\n");
  for (const double rate : {0.003, 0.001, 0.01}) row("everything", firsts, everything, rate);
  row("the last block", firsts, last_block, 0.003), row("LoRA, rank 2", firsts, lora, 0.003);
  row("and 8 old documents", firsts, everything, 0.003, 8);
  row("from random weights", firsts, scratch, 0.003);
}
