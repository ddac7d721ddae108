// Fine-tuning a BERT: a layer on its pooler separates good reviews from bad ones; "not" flips a word's sense.
#include <cstdio>
#include "gradus/gradus.h"
#include "gradus/text/text.h"

using namespace gradus;

struct Classifier : nn::Module {
  explicit Classifier(const nn::Bert& given) : bert(add("bert", given)) {}
  nn::Bert bert;
  nn::Linear head = add("head", nn::Linear(bert.options().block.d_model, 2));
  Tensor operator()(const Tensor& x) const { return head(bert.pooled(bert(x, {.padding = x == 0}))); }
};

int main(int argc, char** argv) {  // bert_classifier [FOLDER]: config.json, model.safetensors, vocab.txt
  manual_seed(0);
  std::vector<std::string> texts;  // in practice, read from files
  for (const std::string who : {"the film", "this book", "the last play", "her new song", "a long speech"})
    for (const std::string is : {" is ", " seems really ", " was, we felt, ", " is not ", " was never "})
      for (const char* what : {"good", "lovely", "wonderful", "bad", "boring", "awful"})
        texts.push_back(who + is + what);
  const auto tokens = argc > 1 ? text::WordPiece::load(argv[1]) : text::train_word_piece(texts);
  nn::BertOptions small{.vocab = tokens.vocab_size(), .layers = 2, .block = {.d_model = 32, .heads = 4}};
  Classifier model(argc > 1 ? nn::Bert::load_pretrained(argv[1]) : nn::Bert(small));
  const auto item = [&](std::size_t i) { return from_vector(tokens.encode_pair(texts[i]).ids); };
  const auto [x] = data::DataLoader(150, item, {.batch_size = 150, .pad = {0}}).next();  // [150, T]
  const Tensor i = arange(150), y = ((i % 6 < 3) != (i % 30 >= 18)).to(i64);             // 1: a good one
  const auto [train, unseen] = data::random_split(150, {120, 30});
  optim::AdamW opt(model.parameters(), {.lr = optim::warmup_linear(argc > 1 ? 2e-5 : 2e-3, 20)});
  data::DataLoader loader({x[train], y[train]}, {.batch_size = 12, .shuffle = true});
  for (model.train(); loader.epoch() < 40;) {  // a loaded model is in eval mode: no dropout
    const auto [ids, classes] = loader.next();
    opt.zero_grad();
    cross_entropy(model(ids), classes).backward();
    opt.step();
  }
  model.eval();
  std::printf("accuracy %.2f\n", data::accuracy(model(x[unseen]), y[unseen]));
}
