// The models of the literature, small, side by side. The first of them translates.
// Its chapter: docs/course/35_models/README.md
#include <algorithm>
#include <cstdio>
#include <sstream>
#include "gradus/gradus.h"

using namespace gradus;
namespace {
constexpr std::int64_t V = 50, C = 32, T = 12;
const nn::Seq2SeqOptions kFirst{
    .vocab = V, .encoder_layers = 2, .decoder_layers = 2, .block = {.d_model = C, .heads = 4}};

/// Prints a model's properties, found by running it; stack: where its blocks are, apply: ids [1, T] -> [1, T,
/// ...].
void print(const std::string& title, const auto& model, const std::string& stack, const auto& apply) {
  model.eval();
  std::int64_t norms = 0, biases = 0;
  for (const auto& [name, w] : model.named_parameters()) {
    if (name.find("norm") != std::string::npos) norms += w.numel();
    if (name.ends_with("bias")) biases += w.numel();
  }
  // [asked]
  const NoGrad guard;
  const Tensor same = apply(full({1, T}, 7, i64));  // one token twelve times
  const bool absolute = (same - same.slice(1, 0, 1)).abs().max().item() > 1e-6;
  const nn::AttentionMaps maps;
  apply(randint(3, V, {1, T}));
  const auto pairs = [&](const char* layer) {  // of a query and a key that it sees
    return (maps.at(stack + layer)[0][0] > 0).to(f64).sum().item();
  };
  // [/asked]
  std::printf("%-14s %-8s %6d %7d  %-9s %7.0f %9.0f %9d\n", title.c_str(),
              model.options().placement.name.c_str(), int(norms), int(biases),
              absolute ? "absolute" : "relative", pairs("layers.0.self_attn"), pairs("layers.1.self_attn"),
              int(model.num_parameters()));
}

// [small]
nn::GPT small(nn::GPTOptions options) {
  options.vocab = V, options.context = 16, options.layers = 2;
  options.block.d_model = C, options.block.heads = 4, options.block.head_dim = 0;
  options.block.d_ff = options.block.gated ? 88 : 4 * C;
  if (options.block.window > 0) options.block.window = 4;  // GPT-3's band
  return nn::GPT(options);
}
// [/small]

void table() {
  const auto alone = [](const char* title, const auto& model) {
    print(title, model, "", [&](const Tensor& x) { return model(x); });
  };
  const auto both = [](const std::string& title, const auto& model) {
    print(title + ", reads", model, "encoder.", [&](const Tensor& x) { return model.encode(x).memory; });
    print(title + ", writes", model, "decoder.", [&](const Tensor& x) { return model(x, x); });
  };
  std::printf("2 blocks       norms  in norms  biases   places   pairs in block 1, 2   weights\n");
  both("2017", nn::Seq2SeqTransformer(kFirst));
  alone("GPT-1", small(nn::gpt1()));
  alone("BERT", nn::Bert({.vocab = V, .context = 16, .layers = 2, .block = {.d_model = C, .heads = 4}}));
  alone("GPT-2", small(nn::gpt2()));
  both("T5", nn::T5({V, C, 8, 4 * C, 4, 2, 2}));  // 4 heads of 8 channels, 2 + 2 blocks
  alone("GPT-3", small(nn::gpt3()));
  alone("Llama", small(nn::llama({.kv_heads = 2})));
}

const char* const kNouns[] = {"man", "dog", "woman", "cat", "child", "horse"};
const char* const kSubjects[] = {"der Mann", "der Hund", "die Frau", "die Katze", "das Kind", "das Pferd"};
const char* const kObjects[] = {"den Mann", "den Hund", "die Frau", "die Katze", "das Kind", "das Pferd"};
const char* const kVerbs[] = {"seen", "found", "called", "sought", "loved", "led"};
const char* const kParticiples[] = {"gesehen", "gefunden", "gerufen", "gesucht", "geliebt", "geleitet"};
std::vector<std::string> words{"(pad)", "(start)", "."};  // a word's place is its id; "." ends a sentence

Tensor ids(const std::string& text) {
  std::vector<std::int64_t> row;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const auto at = std::find(words.begin(), words.end(), word);
    row.push_back(at - words.begin());
    if (at == words.end()) words.push_back(word);
  }
  return from_vector(row);
}

void translate() {
  std::vector<Tensor> lists[2];
  const auto text = [](auto... parts) { return ids(((parts + std::string(" ")) + ...)); };
  for (int i = 0; i < 216; ++i) {
    const int who = i / 36, whom = i / 6 % 6, verb = i % 6;
    lists[0].push_back(text("the", kNouns[who], "has", kVerbs[verb], "the", kNouns[whom]));
    lists[1].push_back(text(kSubjects[who], "hat", kObjects[whom], kParticiples[verb], "."));
  }
  const Tensor english = stack(lists[0]), german = stack(lists[1]);
  std::printf("\n72 sentences learned; of 144 others it translates without a mistake\n");
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    manual_seed(seed);
    const nn::Seq2SeqTransformer model(kFirst);
    optim::Adam adam(model.parameters(), {.lr = optim::noam(C, 100, 0.5), .betas = {0.9, 0.98}});
    const Tensor order = randperm(216), known = order.slice(0, 0, 72), unknown = order.slice(0, 72);
    for (int step = 0; step < 300; ++step) {
      const Tensor batch = known[randint(0, 72, {24})];
      adam.zero_grad();
      model.loss(english[batch], german[batch], {.label_smoothing = 0.1}).backward();
      adam.step();
    }
    const Tensor written = model.generate(english[unknown], 7, {.greedy = true});
    const double right = (written == german[unknown]).all({1}).to(f64).mean().item();
    std::printf("seed %d: %3.0f%%, it writes:", int(seed), 100 * right);
    for (const std::int64_t id : written[0].to_vector<std::int64_t>())
      std::printf(" %s", words[std::size_t(id)].c_str());
    std::printf("\n");
  }
}
}  // namespace
int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  table();
  translate();
}
