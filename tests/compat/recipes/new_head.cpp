// A new head: load a GPT trained on unlabeled rows, then learn to classify topics from one label each.
#include <cstdio>
#include "gradus/gradus.h"

using namespace gradus;

struct Classifier : nn::Module {
  explicit Classifier(const nn::GPT& given) : body(add("body", given)) {}
  nn::GPT body;
  nn::Linear head = add("head", nn::Linear(body.options().block.d_model, 4));
  Tensor operator()(const Tensor& ids) const { return head(body.hidden(ids).select(1, -1)); }  // last token
};

int main() {
  manual_seed(0);
  const auto rows = [](const Tensor& topics) {  // [B] -> [B, 8]: 8 words, each from its topic's 50
    return 50 * topics.unsqueeze(1) + randint(0, 50, {topics.size(0), 8});
  };
  const nn::GPT gpt(nn::llama({.vocab = 200, .context = 8, .layers = 2, .d_model = 32, .heads = 4}));
  for (optim::Adam opt(gpt.parameters(), {.lr = 3e-3}); opt.steps() < 150; opt.step(), opt.zero_grad()) {
    const Tensor text = rows(randint(0, 4, {32}));
    gpt.loss(text.slice(1, 0, 7), text.slice(1, 1)).backward();
  }
  gpt.save_pretrained("body");  // or any folder that nn::GPT::load_pretrained reads
  const Tensor x = rows(arange(4)), topics = randint(0, 4, {400}), unseen = rows(topics);
  const Classifier fresh(nn::GPT(gpt.options())), model(nn::GPT::load_pretrained("body"));
  for (const Classifier& c : {fresh, model}) {
    c.train();  // a loaded model is in eval mode
    optim::AdamW opt({{c.head.parameters()}, {c.body.parameters(), 1e-4}}, {.lr = 1e-2});
    for (; opt.steps() < 30; opt.step(), opt.zero_grad()) cross_entropy(c(x), arange(4)).backward();
    c.eval();
    std::printf("%s body: %.2f right\n", c == fresh ? "fresh" : "loaded", data::accuracy(c(unseen), topics));
  }
  model.body.save_pretrained("tuned");
  save_safetensors("tuned/head.safetensors", model.head.state_dict());
  const Classifier again(nn::GPT::load_pretrained("tuned"));
  again.head.load_state_dict(load_safetensors("tuned/head.safetensors"));
  std::printf("loaded again: %s\n", (again(unseen) == model(unseen)).all() ? "the same" : "not the same");
}
