namespace {
/// The loss of each token, 0 at padding; and 1 at tokens, 0 at padding.
std::pair<Tensor, Tensor> parts(const Batch& batch) {
  return {cross_entropy(batch.logits, batch.target, {.reduction = Reduction::none}),
          (batch.target != -100).to(f64)};
}
double total(const Tensor& x) { return x.sum().item(); }
}  // namespace

namespace mean_of_batch_means {
using solution::bits_per_byte;
using solution::windows;
double perplexity(const std::vector<Batch>& batches) {
  double sum = 0;
  for (const auto& [logits, target] : batches) sum += cross_entropy(logits, target).item();
  return std::exp(sum / static_cast<double>(batches.size()));
}
}  // namespace mean_of_batch_means
MUTANT(mean_of_batch_means, "in all batches every token counts the same",
       "a batch of padding alone changes nothing")

namespace mean_of_perplexities {
using solution::bits_per_byte;
using solution::windows;
double perplexity(const std::vector<Batch>& batches) {
  double sum = 0;
  for (const auto& [logits, target] : batches) sum += std::exp(cross_entropy(logits, target).item());
  return sum / static_cast<double>(batches.size());
}
}  // namespace mean_of_perplexities
MUTANT(mean_of_perplexities, "in all batches every token counts the same",
       "a batch of padding alone changes nothing")

namespace weighted_by_the_size_with_padding {
using solution::bits_per_byte;
using solution::windows;
double perplexity(const std::vector<Batch>& batches) {
  double sum = 0, tokens = 0;
  for (const auto& [logits, target] : batches) {
    sum += cross_entropy(logits, target).item() * static_cast<double>(target.numel());
    tokens += static_cast<double>(target.numel());
  }
  return std::exp(sum / tokens);
}
}  // namespace weighted_by_the_size_with_padding
MUTANT(weighted_by_the_size_with_padding, "a batch of padding alone changes nothing")

namespace mean_of_nothing {
using solution::bits_per_byte;
using solution::windows;
double perplexity(const std::vector<Batch>& batches) {
  double sum = 0, tokens = 0;
  for (const Batch& batch : batches) {
    const auto [loss, inside] = parts(batch);
    sum += total(loss) / total(inside) * total(inside);
    tokens += total(inside);
  }
  return std::exp(sum / tokens);
}
}  // namespace mean_of_nothing
MUTANT(mean_of_nothing, "a batch of padding alone changes nothing")

namespace mean_over_rows {
using solution::bits_per_byte;
using solution::windows;
double perplexity(const std::vector<Batch>& batches) {
  double sum = 0, rows = 0;
  for (const Batch& batch : batches) {
    const auto [loss, inside] = parts(batch);
    const Tensor filled = inside.sum(1);
    sum += total(loss.sum(1) / filled.clamp(1));
    rows += total((filled > 0).to(f64));
  }
  return std::exp(sum / rows);
}
}  // namespace mean_over_rows
MUTANT(mean_over_rows, "in a batch every token counts the same", "in all batches every token counts the same")

namespace padding_in_the_number_of_tokens {
using solution::bits_per_byte;
using solution::windows;
double perplexity(const std::vector<Batch>& batches) {
  double sum = 0, tokens = 0;
  for (const Batch& batch : batches) {
    sum += total(parts(batch).first);
    tokens += static_cast<double>(batch.target.numel());
  }
  return std::exp(sum / tokens);
}
}  // namespace padding_in_the_number_of_tokens
MUTANT(padding_in_the_number_of_tokens, "padding does not count", "in a batch every token counts the same",
       "a batch of padding alone changes nothing")

namespace padding_is_token_0 {
using solution::bits_per_byte;
using solution::windows;
double perplexity(const std::vector<Batch>& batches) {
  std::vector<Batch> all;
  for (const auto& [logits, target] : batches) all.push_back({logits, target.clamp(0)});
  return solution::perplexity(all);
}
}  // namespace padding_is_token_0
MUTANT(padding_is_token_0, "padding does not count", "in a batch every token counts the same",
       "a batch of padding alone changes nothing")

namespace mean_of_one_over_p {
using solution::bits_per_byte;
using solution::windows;
double perplexity(const std::vector<Batch>& batches) {
  double sum = 0, tokens = 0;
  for (const Batch& batch : batches) {
    const auto [loss, inside] = parts(batch);
    sum += total(loss.exp() * inside);
    tokens += total(inside);
  }
  return sum / tokens;
}
}  // namespace mean_of_one_over_p
MUTANT(mean_of_one_over_p, "the mean comes before exp", "in a batch every token counts the same",
       "in all batches every token counts the same")

namespace one_over_the_mean_p {
using solution::bits_per_byte;
using solution::windows;
double perplexity(const std::vector<Batch>& batches) {
  double sum = 0, tokens = 0;
  for (const Batch& batch : batches) {
    const auto [loss, inside] = parts(batch);
    sum += total((-loss).exp() * inside);
    tokens += total(inside);
  }
  return tokens / sum;
}
}  // namespace one_over_the_mean_p
MUTANT(one_over_the_mean_p, "the mean comes before exp", "in a batch every token counts the same",
       "in all batches every token counts the same")

namespace two_to_the_nats {
using solution::bits_per_byte;
using solution::windows;
double perplexity(const std::vector<Batch>& batches) {
  return std::exp2(std::log(solution::perplexity(batches)));
}
}  // namespace two_to_the_nats
MUTANT(two_to_the_nats, "a blind guess among V has perplexity V", "the mean comes before exp",
       "padding does not count", "in a batch every token counts the same",
       "in all batches every token counts the same", "a batch of padding alone changes nothing")

namespace nats_per_byte {
using solution::perplexity;
using solution::windows;
double bits_per_byte(const Tensor& loss, const Tensor& ids, const std::vector<std::string>& vocabulary) {
  return solution::bits_per_byte(loss, ids, vocabulary) * std::log(2.0);
}
}  // namespace nats_per_byte
MUTANT(nats_per_byte, "the unit is the bit")

namespace bits_per_token {
using solution::perplexity;
using solution::windows;
double bits_per_byte(const Tensor& loss, const Tensor&, const std::vector<std::string>&) {
  return loss.mean().item() / std::log(2.0);
}
}  // namespace bits_per_token
MUTANT(bits_per_token, "bytes of the tokens in the text", "long tokens count more",
       "a letter may have several bytes")

namespace bits_per_letter {
using solution::perplexity;
using solution::windows;
double bits_per_byte(const Tensor& loss, const Tensor& ids, const std::vector<std::string>& vocabulary) {
  double letters = 0;  // all bytes but those that continue a letter
  for (const std::int64_t id : ids.to_vector<std::int64_t>())
    for (const char byte : vocabulary[static_cast<std::size_t>(id)])
      letters += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  return loss.sum().item() / std::log(2.0) / letters;
}
}  // namespace bits_per_letter
MUTANT(bits_per_letter, "a letter may have several bytes")

namespace mean_of_ratios {
using solution::perplexity;
using solution::windows;
double bits_per_byte(const Tensor& loss, const Tensor& ids, const std::vector<std::string>& vocabulary) {
  double sum = 0;
  for (std::int64_t t = 0; t < ids.numel(); ++t)
    sum += solution::bits_per_byte(loss.slice(0, t, t + 1), ids.slice(0, t, t + 1), vocabulary);
  return sum / static_cast<double>(ids.numel());
}
}  // namespace mean_of_ratios
MUTANT(mean_of_ratios, "long tokens count more")

namespace mean_length_in_the_vocabulary {
using solution::perplexity;
using solution::windows;
double bits_per_byte(const Tensor& loss, const Tensor&, const std::vector<std::string>& vocabulary) {
  double bytes = 0;
  for (const std::string& piece : vocabulary) bytes += static_cast<double>(piece.size());
  return loss.mean().item() / std::log(2.0) / (bytes / static_cast<double>(vocabulary.size()));
}
}  // namespace mean_length_in_the_vocabulary
MUTANT(mean_length_in_the_vocabulary, "bytes of the tokens in the text")

namespace mean_loss_over_all_bytes {
using solution::perplexity;
using solution::windows;
double bits_per_byte(const Tensor& loss, const Tensor& ids, const std::vector<std::string>& vocabulary) {
  return solution::bits_per_byte(loss, ids, vocabulary) / static_cast<double>(ids.numel());
}
}  // namespace mean_loss_over_all_bytes
MUTANT(mean_loss_over_all_bytes, "the unit is the bit", "bytes of the tokens in the text",
       "long tokens count more", "a letter may have several bytes")

namespace all_of_each_window {
using solution::bits_per_byte;
using solution::perplexity;
std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t stride) {
  std::vector<Window> all = solution::windows(N, size, stride);
  for (Window& w : all) w.first = w.begin;
  return all;
}
}  // namespace all_of_each_window
MUTANT(all_of_each_window, "no token is scored twice", "every token sees enough")

namespace the_last_of_each_window {
using solution::bits_per_byte;
using solution::perplexity;
std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t stride) {
  std::vector<Window> all;
  for (std::int64_t begin = 0; begin == 0 || begin + size <= N; begin += stride) {
    const std::int64_t end = std::min(begin + size, N);
    all.push_back({begin, end, std::max<std::int64_t>(end - stride, 0)});
  }
  return all;
}
}  // namespace the_last_of_each_window
MUTANT(the_last_of_each_window, "no token is left out", "no window is read in vain")

namespace full_windows_only {
using solution::bits_per_byte;
using solution::perplexity;
std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t stride) {
  std::vector<Window> all = solution::windows(N, size, stride);
  while (!all.empty() && all.back().end - all.back().begin < size) all.pop_back();
  return all;
}
}  // namespace full_windows_only
MUTANT(full_windows_only, "no token is left out")

namespace past_the_end {
using solution::bits_per_byte;
using solution::perplexity;
std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t stride) {
  std::vector<Window> all = solution::windows(N, size, stride);
  for (Window& w : all) w.end = w.begin + size;
  return all;
}
}  // namespace past_the_end
MUTANT(past_the_end, "the windows fit")

namespace one_token_more {
using solution::bits_per_byte;
using solution::perplexity;
std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t stride) {
  return solution::windows(N, size + 1, stride);
}
}  // namespace one_token_more
MUTANT(one_token_more, "the windows fit")

namespace side_by_side {
using solution::bits_per_byte;
using solution::perplexity;
std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t) {
  return solution::windows(N, size, size);
}
}  // namespace side_by_side
MUTANT(side_by_side, "one window every stride tokens", "every token sees enough")

namespace one_window_a_token {
using solution::bits_per_byte;
using solution::perplexity;
std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t) {
  return solution::windows(N, size, 1);
}
}  // namespace one_window_a_token
MUTANT(one_window_a_token, "one window every stride tokens")

namespace new_tokens_alone {
using solution::bits_per_byte;
using solution::perplexity;
std::vector<Window> windows(std::int64_t N, std::int64_t, std::int64_t stride) {
  return solution::windows(N, stride, stride);
}
}  // namespace new_tokens_alone
MUTANT(new_tokens_alone, "every token sees enough")

namespace until_the_last_begin {
using solution::bits_per_byte;
using solution::perplexity;
std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t stride) {
  std::vector<Window> all;
  for (std::int64_t begin = 0, scored = 0; begin < N; begin += stride) {
    const std::int64_t end = std::min(begin + size, N);
    all.push_back({begin, end, scored});
    scored = end;
  }
  return all;
}
}  // namespace until_the_last_begin
MUTANT(until_the_last_begin, "no window is read in vain")

namespace at_least_one_window {
using solution::bits_per_byte;
using solution::perplexity;
std::vector<Window> windows(std::int64_t N, std::int64_t size, std::int64_t stride) {
  return N == 0 ? std::vector<Window>{{0, 0, 0}} : solution::windows(N, size, stride);
}
}  // namespace at_least_one_window
MUTANT(at_least_one_window, "no window is read in vain")
