#include "lab/studies/translation/translator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/text/bleu.h"
#include "gradus/text/pad_batch.h"

namespace gradus::lab::translation {

namespace {

constexpr double kDiverged = 4, kSmoothing = 0.1;
constexpr std::size_t kTogether = 50;  // sentences translated at once
constexpr std::size_t kParts = 20;     // of the curve

nn::Seq2SeqTransformer new_translator(const Sentences& sentences, const TrainOptions& options) {
  manual_seed(options.seed);  // of this thread's generator
  return nn::Seq2SeqTransformer(
      {.vocab = sentences.tokenizer->vocab_size(),
       .encoder_layers = options.layers,
       .decoder_layers = options.layers,
       .placement = options.placement,
       .block = {.d_model = options.d_model, .heads = options.heads, .d_ff = options.d_ff},
       .pad = kPad,
       .start = kStart,
       .end = kEnd});
}

data::DataLoader<2> batches_of(const Pairs& pairs, const TrainOptions& options) {
  const auto item = [&pairs](std::int64_t i) {
    return std::array{pairs.source[static_cast<std::size_t>(i)], pairs.target[static_cast<std::size_t>(i)]};
  };
  const auto length = [&pairs](std::int64_t i) {
    return std::max(pairs.source[static_cast<std::size_t>(i)].size(0),
                    pairs.target[static_cast<std::size_t>(i)].size(0));
  };
  return {pairs.size(),
          item,
          {.max_tokens = options.tokens,
           .shuffle = true,
           .pad = {kPad},
           .length = length,
           .generator = Generator(options.seed, /*stream=*/1)}};
}

/// Pairs [begin, end) as a padded source and target.
std::pair<Tensor, Tensor> padded(const Pairs& pairs, std::size_t begin, std::size_t end) {
  const auto side = [&](const std::vector<Tensor>& texts) {
    std::vector<text::Ids> rows;
    for (std::size_t i = begin; i < end; ++i) rows.push_back(texts[i].to_vector<std::int64_t>());
    return text::pad_batch(rows, kPad).ids;
  };
  return {side(pairs.source), side(pairs.target)};
}

/// Calls f(begin, source, target) for the pairs, kTogether at a time.
void for_batches(const Pairs& pairs, const auto& f) {
  for (std::size_t begin = 0; begin < pairs.source.size(); begin += kTogether) {
    kit::stop_if_interrupted();
    const auto [source, target] = padded(pairs, begin, std::min(begin + kTogether, pairs.source.size()));
    f(source, target);
  }
}

double loss_over(const nn::Seq2SeqTransformer& model, const Pairs& pairs) {
  const NoGrad no_grad;
  double sum = 0, count = 0;
  for_batches(pairs, [&](const Tensor& source, const Tensor& target) {
    const double here = (target != kPad).to(f64).sum().item();
    sum += here * model.loss(source, target).item();
    count += here;
  });
  return sum / count;
}

std::string text_of(const Sentences& sentences, const Tensor& row) {
  text::Ids ids = row.to_vector<std::int64_t>();
  ids.erase(std::find_if(ids.begin(), ids.end(), [](auto id) { return id == kEnd || id == kPad; }),
            ids.end());
  const std::string text = sentences.tokenizer->decode(ids, {.skip_special = true});
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first);
}

text::Bleu bleu_of(const nn::Seq2SeqTransformer& model, const Sentences& sentences) {
  std::vector<std::string> translations;
  for_batches(sentences.test, [&](const Tensor& source, const Tensor&) {
    for (const Tensor& row : unbind(model.generate(source, 2 * source.size(1) + 10, {.greedy = true}), 0))
      translations.push_back(text_of(sentences, row));
  });
  return text::bleu(translations, sentences.references);
}

/// Means of kParts equal parts; fewer where there are fewer values.
std::vector<double> parts_of(const std::vector<double>& values) {
  std::vector<double> means;
  const std::size_t parts = std::min(kParts, values.size());
  for (std::size_t i = 0; i < parts; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / parts);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / parts);
    means.push_back(std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin));
  }
  return means;
}

}  // namespace

double rate_at(const TrainOptions& options, std::int64_t step) {
  const auto [at, steps] = std::pair(static_cast<double>(step), static_cast<double>(options.steps));
  const double up = options.warmup > 0 ? std::min(1.0, at / static_cast<double>(options.warmup)) : 1.0;
  return options.lr * up * std::max(0.0, 1 - (at - 1) / steps);
}

Measured train_and_translate(const Sentences& sentences, const TrainOptions& options) {
  const nn::Seq2SeqTransformer model = new_translator(sentences, options);
  data::DataLoader<2> loader = batches_of(sentences.train, options);
  optim::Adam opt(model.parameters(), {.lr = [options](std::int64_t step) { return rate_at(options, step); },
                                       .betas = {0.9, 0.98},
                                       .eps = 1e-9});
  const double start = loss_over(model, sentences.test);
  const double limit = kDiverged * std::log(static_cast<double>(sentences.tokenizer->vocab_size()));
  const auto is_wild = [&](double loss) { return !std::isfinite(loss) || loss > limit; };
  std::vector<double> losses;
  bool diverged = false;
  for (std::int64_t step = 1; step <= options.steps && !diverged; ++step) {
    kit::stop_if_interrupted();
    const auto [source, target] = loader.next();
    const Tensor loss = model.loss(source, target, {.label_smoothing = kSmoothing});
    losses.push_back(loss.item());
    diverged = is_wild(loss.item());
    if (diverged) break;
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  const double end = diverged ? start : loss_over(model, sentences.test);
  diverged = diverged || is_wild(end);
  const text::Bleu bleu = diverged ? text::Bleu{} : bleu_of(model, sentences);
  return {.numbers = {{"bleu", bleu.score},
                      {"brevity", bleu.brevity_penalty},
                      {"loss", diverged ? start : std::min(end, start)},
                      {"diverged", diverged ? 1.0 : 0.0}},
          .series = {{"losses", parts_of(losses)}}};
}

}  // namespace gradus::lab::translation
