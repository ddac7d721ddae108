struct Answer {
  double (*perplexity)(const std::vector<Batch>& batches);
  double (*bits)(const Tensor& loss, const Tensor& ids, const std::vector<std::string>& vocabulary);
  std::vector<Window> (*windows)(std::int64_t N, std::int64_t size, std::int64_t stride);
};
#define ANSWER(FROM) \
  { FROM::perplexity, FROM::bits_per_byte, FROM::windows }

namespace {
/// A batch of two classes, in which the targets have these probabilities; 0 is padding.
Batch batch_of(const Tensor& p) {
  const Tensor padding = p == 0.0, q = where(padding, 0.5, p), target = randint(0, 2, p.shape());
  return {log(where(one_hot(target, 2) == 1, q.unsqueeze(-1), (1 - q).unsqueeze(-1))),
          where(padding, -100, target)};
}
/// The loss of tokens that cost so many bits.
Tensor in_nats(const Tensor& bits) { return bits * std::log(2.0); }

/// What the answer says of tokens of one byte and one bit each: 1, or ln 2 if its unit is the nat, which only
/// the case of the unit should hold against it.
double unit(const Answer& answer) {
  const double one = answer.bits(in_nats(ones({3})), tensor({1, 0, 1}), {"a", "b"}), nat = std::log(2.0);
  return std::abs(one - nat) < 1e-9 ? nat : 1;
}

struct Reading {
  std::int64_t N, size, stride;
  std::vector<Window> windows;
  std::string text;  // for messages
};
/// The windows of an empty text, and of 20 of random lengths.
std::vector<Reading> readings(const Answer& answer) {
  const auto from_1_to = [](std::int64_t n) { return randint(1, n + 1, {1}).item<std::int64_t>(); };
  std::vector<Reading> all;
  for (int i = 0; i <= 20; ++i) {
    const std::int64_t N = i == 0 ? 0 : from_1_to(40), size = 1 + from_1_to(7), stride = from_1_to(size);
    all.push_back({N, size, stride, answer.windows(N, size, stride),
                   phrase("({0} tokens, size {1}, stride {2})", N, size, stride)});
  }
  return all;
}
/// In how many windows each token is scored.
std::vector<int> scores(const Reading& reading) {
  std::vector<int> count(static_cast<std::size_t>(reading.N));
  for (const Window& w : reading.windows)
    for (std::int64_t t = std::max<std::int64_t>(w.first, 0); t < std::min(w.end, reading.N); ++t)
      ++count[static_cast<std::size_t>(t)];
  return count;
}
}  // namespace

CASE("a blind guess among V has perplexity V", "exp of the mean loss in nats.") {
  near("the perplexity of equal logits, V = 7,",
       answer.perplexity({Batch{zeros({2, 3, 7}), randint(0, 7, {2, 3})}}), 7);
}
CASE("the mean comes before exp", "The mean of the losses, not of 1/p and not of p.") {
  near("the perplexity of tokens of probability 1/2 and 1/32",
       answer.perplexity({batch_of(tensor({{1.0 / 2, 1.0 / 32}}))}), 8);
}
CASE("padding does not count", "Neither in the sum of the losses nor in the number of tokens.") {
  near("the perplexity of tokens of probability 1/4, with padding,",
       answer.perplexity({batch_of(tensor({{0.25, 0.25, 0.25}, {0.25, 0.0, 0.0}}))}), 4);
}
CASE("in a batch every token counts the same", "A short row has fewer tokens, so it counts less.") {
  near("the perplexity of three tokens of probability 1/2, and one of 1/32 in a row of its own,",
       answer.perplexity({batch_of(tensor({{0.5, 0.5, 0.5}, {1.0 / 32, 0.0, 0.0}}))}), 4);
}
CASE("in all batches every token counts the same", "Add up losses and tokens of all batches, then divide.") {
  near("the perplexity of six tokens of probability 1/2, and two of 1/32 in another batch,",
       answer.perplexity({batch_of(full({2, 3}, 0.5)), batch_of(full({1, 2}, 1.0 / 32))}), 4);
}
CASE("a batch of padding alone changes nothing",
     "It has no tokens, so it does not count as a batch, and its mean, 0 / 0, is NaN.") {
  near("the perplexity of tokens of probability 1/4, and a batch of padding,",
       answer.perplexity({batch_of(full({2, 3}, 0.25)), batch_of(zeros({2, 3}))}), 4);
}
CASE("the unit is the bit", "One bit is ln 2 nats.") {
  near("for tokens of one byte and one bit each, bits per byte",
       answer.bits(in_nats(ones({3})), tensor({1, 0, 1}), {"a", "b"}), 1);
}
CASE("bytes of the tokens in the text", "Divide by the bytes of the text, not by its tokens.") {
  near("for tokens of 2 and 3 bytes, which cost 2 and 3 bits, bits per byte",
       answer.bits(in_nats(tensor({2.0, 3.0, 2.0})), tensor({2, 0, 2}), {"cde", "not in the text", "ab"}) /
           unit(answer),
       1);
}
CASE("long tokens count more", "Divide once, the sum of the losses by the sum of the bytes.") {
  near("for tokens of 1 and 6 bytes, which cost 4 and 3 bits, bits per byte",
       answer.bits(in_nats(tensor({4.0, 3.0})), tensor({0, 1}), {"a", "bcdefg"}) / unit(answer), 1);
}
CASE("a letter may have several bytes", "std::string::size() counts bytes: 2 for an accented e in UTF-8.") {
  near("for letters of two bytes, which cost 2 bits, bits per byte",
       answer.bits(in_nats(tensor({2.0, 4.0})), tensor({0, 1}), {"\xc3\xa9", "\xc3\xa9\xc3\xa9"}) /
           unit(answer),
       1);
}
CASE("the windows fit", "end is at most begin + size, and at most N.") {
  for (const Reading& r : readings(answer))
    for (const Window& w : r.windows) {
      expect(w.end <= r.N,
             phrase("the window from {0} to {1} ends after the text {2}", w.begin, w.end, r.text));
      expect(w.end - w.begin <= r.size,
             phrase("the window from {0} to {1} is too long {2}", w.begin, w.end, r.text));
    }
}
CASE("one window every stride tokens", "begin is 0, stride, 2 stride and so on.") {
  for (const Reading& r : readings(answer))
    for (std::size_t k = 0; k < r.windows.size(); ++k)
      expect(r.windows[k].begin == static_cast<std::int64_t>(k) * r.stride,
             phrase("window {0} begins at {1} {2}", k, r.windows[k].begin, r.text));
}
CASE("no token is left out", "The first window scores all its tokens, and the last one may be short.") {
  for (const Reading& r : readings(answer)) {
    const std::vector<int> count = scores(r);
    const auto missing = std::find(count.begin(), count.end(), 0);
    expect(missing == count.end(),
           phrase("token {0} is scored in no window {1}", missing - count.begin(), r.text));
  }
}
CASE("no token is scored twice", "first is the end of the window before.") {
  for (const Reading& r : readings(answer)) {
    const std::vector<int> count = scores(r);
    const auto twice = std::find_if(count.begin(), count.end(), [](int n) { return n > 1; });
    expect(twice == count.end(), phrase("token {0} is scored again {1}", twice - count.begin(), r.text));
  }
}
CASE("every token sees enough",
     "From the second window on, size - stride tokens come before the first scored.") {
  for (const Reading& r : readings(answer))
    for (const Window& w : r.windows)
      expect(w.first >= w.end || w.first - w.begin >= std::min(w.first, r.size - r.stride),
             phrase("token {0} sees only {1} {2}", w.first, w.first - w.begin, r.text));
}
CASE("no window is read in vain", "Stop when the last token has been scored.") {
  for (const Reading& r : readings(answer))
    for (const Window& w : r.windows)
      expect(w.first < w.end, phrase("the window from {0} scores nothing {1}", w.begin, r.text));
}
