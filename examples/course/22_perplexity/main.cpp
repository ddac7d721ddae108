// One text in three tokenizations: perplexity, bits per byte, means over lines, windows with a stride.
// Its chapter: docs/course/22_perplexity/README.md
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {
constexpr std::int64_t kW = 36, kV = 28;                          // words; letters with the space
const std::string kAlphabet = " abcdefghijklmnopqrstuvwxyz\xa9";  // in UTF-8 é is the two bytes c3 and a9
/// The frequent ones first. All have an even number of letters, so with spaces 3000 words have one, too.
const char* const kWords[kW] = {
    "of",     "to",     "né",     "in",     "it",     "is",     "he",     "on",     "as",
    "at",     "café",   "élan",   "that",   "with",   "this",   "from",   "have",   "they",
    "what",   "some",   "time",   "more",   "like",   "door",   "room",   "rain",   "people",
    "little", "before", "street", "window", "letter", "garden", "summer", "cinéma", "school"};

struct Text {
  std::string bytes;
  std::vector<std::int64_t> words, letters;
};
Text write(const Tensor& next, int words) {
  Text text;
  for (std::int64_t last = 0; words > 0; --words) {
    text.words.push_back(last = multinomial(next[last], 1).item<std::int64_t>());
    text.bytes += std::string(kWords[last]) + " ";
  }
  for (const char byte : text.bytes)
    if (byte != '\xc3') text.letters.push_back(static_cast<std::int64_t>(kAlphabet.find(byte)));
  return text;
}

// [counted]
struct Tokens {
  Tensor seen, scored;  // tokens to count, and tokens to predict
};

/// Each token and the n before it as one number, of digits in base V. The text is a ring.
Tensor codes(const Tensor& text, std::int64_t V, int n) {
  return n == 0 ? text : text + V * roll(codes(text, V, n - 1), 1, 0);
}
/// The loss of each scored token after the n before it, by counts; p of n - 1 counts as 5 tokens seen.
Tensor losses(const Tokens& tokens, std::int64_t V, int n) {
  Tensor p = full({1}, 1.0 / double(V));
  for (int k = 0; k <= n; ++k) {
    const Tensor found = codes(tokens.seen, V, k);
    Tensor count = index_add(zeros({V * p.numel()}), 0, found, ones(found.shape()));
    count = (count.reshape({-1, p.numel()}) + 5 * p).reshape({-1, V});
    p = (count / count.sum(-1, true)).reshape({-1});
  }
  return -log(p[codes(tokens.scored, V, n)]);
}
// [/counted]

void means(const Tensor& alone, const Tensor& after) {
  // [means]
  const Tensor inside = (arange(10) < randint(1, 11, {300, 1})).to(f64);  // 300 lines of 1 to 10 words
  const Tensor loss = inside * where(arange(10) == 0, alone.reshape({300, 10}), after.reshape({300, 10}));
  const Tensor of_line = loss.sum(1) / inside.sum(1), right = exp(loss.sum() / inside.sum());
  const Tensor lines = exp(of_line.mean()), perplexities = exp(of_line).mean(), padded = exp(loss.mean());
  // [/means]
  std::printf(
      "\n300 lines of 1 to 10 words, in a batch of 10 columns:\n  %5.2f  exp of the mean over the words\n"
      "  %5.2f  exp of the mean over the lines' means\n  %5.2f  mean of the lines' perplexities\n"
      "  %5.2f  exp of the mean over words and padding\n",
      right.item(), lines.item(), perplexities.item(), padded.item());
}

void windows(const Tensor& loss, double bytes) {
  std::printf("\nThe letters in windows of 4, each letter scored once:\n");
  for (const std::int64_t stride : {4, 2, 1}) {
    const std::int64_t N = loss.size(1);
    // [windows]
    double sum = 0, read = 0;
    std::int64_t scored = 0;
    for (std::int64_t begin = 0; scored < N; begin += stride) {
      const std::int64_t end = std::min(begin + 4, N);
      for (; scored < end; ++scored) sum += loss[scored - begin][scored].item();  // loss [4, N]: by context
      read += double(end - begin);
    }
    // [/windows]
    std::printf("  stride %d  %.3f bits per byte, %.2f letters read for each one scored\n", int(stride),
                sum / std::log(2.0) / bytes, read / double(N));
  }
}
}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  const Tensor share = 1 / (arange(kW).to(f64) + 1), partner = one_hot((7 * arange(kW) + 3) % kW, kW).to(f64);
  const Tensor next = 0.5 * partner + 0.5 * share / share.sum();  // [36, 36]: the next word, after each word
  const Text seen = write(next, 30'000), text = write(next, 3000);
  const Tokens words{from_vector(seen.words), from_vector(text.words)};
  const Tokens letters{from_vector(seen.letters), from_vector(text.letters)};
  const double count = double(text.letters.size()), bytes = double(text.bytes.size());
  std::printf("%.55s...\n3000 words, %.0f letters, %.0f bytes\n\n", text.bytes.c_str(), count, bytes);
  std::printf("                       after  tokens   perplexity  bits/token  bits/letter  bits/byte\n");
  const auto row = [&](const char* what, int n, const Tensor& loss) {
    const double bits = loss.sum().item() / std::log(2.0), number = double(loss.numel());
    std::printf("  %-22s %3d %7.0f %12.2f %11.3f %12.3f %10.3f\n", what, n, number,
                std::exp(loss.mean().item()), bits / number, bits / count, bits / bytes);
  };
  const auto two = [](const Tensor& x) { return kV * x.slice(0, 0, {}, 2) + x.slice(0, 1, {}, 2); };
  row("letters, blind", 0, full(letters.scored.shape(), std::log(double(kV))));
  std::vector<Tensor> loss;
  for (int n = 0; n < 4; ++n) row("letters", n, loss.emplace_back(losses(letters, kV, n)));
  row("the same, two at once", 3, loss[3].reshape({-1, 2}).sum(1));
  for (const int n : {0, 1}) row("pairs", n, losses({two(letters.seen), two(letters.scored)}, kV * kV, n));
  for (const int n : {0, 1}) row("words", n, losses(words, kW, n));
  row("words, 26 of 36 <unk>", 1, losses({words.seen.clamp(0, 10), words.scored.clamp(0, 10)}, 11, 1));
  row("words, the truth", 1, -log(next.reshape({-1})[codes(words.scored, kW, 1)]));
  means(losses(words, kW, 0), losses(words, kW, 1));
  windows(stack(loss), bytes);
}
