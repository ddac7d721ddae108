// Generates text, token by token.

#include <algorithm>
#include <chrono>

#include "gpt2/stop_text.h"
#include "gpt2/writer.h"
#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/text/utf8_stream.h"

namespace gradus::gpt2 {

namespace {

/// The ids of a prompt. If the vocabulary has different tokens for the beginning and the end of a text, as
/// Llama's has, the ids begin with the former.
std::vector<std::int64_t> ids_of(const text::Tokenizer& tokenizer, const std::string& prompt) {
  std::vector<std::int64_t> ids = tokenizer.encode(prompt);
  const auto [bos, eos] = std::pair{tokenizer.special().bos, tokenizer.special().eos};
  const auto begin = bos ? bos : eos;
  if (begin && (ids.empty() || (bos && bos != eos && ids.front() != *bos))) ids.insert(ids.begin(), *begin);
  if (ids.empty()) fail_input("expects a prompt: the vocabulary has no token for the beginning of a text");
  return ids;
}

/// The text of a token: nothing for a special one, or for a row of the model that is no token.
std::string bytes_of(const text::Tokenizer& tokenizer, std::int64_t id) {
  return id >= tokenizer.vocab_size() || tokenizer.is_special(id) ? "" : tokenizer.bytes(id);
}

/// Ids in, text out.
class Printer {
 public:
  Printer(const text::Tokenizer& tokenizer, const std::string& stop,
          const std::function<void(std::string_view)>& print)
      : tokenizer_(tokenizer), stop_(stop), print_(print) {}

  /// False if the text has ended.
  bool push(std::int64_t id) {
    print_(stop_.push(characters_.push(bytes_of(tokenizer_, id))));
    return !stop_.met();
  }
  void finish() {
    const std::string last = stop_.push(characters_.flush());  // a separate statement: it changes stop_
    print_(last + stop_.flush());
  }

 private:
  const text::Tokenizer& tokenizer_;
  text::Utf8Stream characters_;
  StopText stop_;
  const std::function<void(std::string_view)>& print_;
};

std::vector<std::int64_t> stops(const text::Tokenizer& tokenizer) {
  const auto eos = tokenizer.special().eos;
  return eos ? std::vector{*eos} : std::vector<std::int64_t>{};
}

std::int64_t draw(const Writer& writer, const Tensor& prompt, const Options& o, Generator& generator,
                  Printer& printer) {
  const Tensor all =
      writer.model.generate(prompt, o.count,
                            {.temperature = o.temperature,
                             .top_k = o.top_k,
                             .top_p = o.top_p,
                             .repetition_penalty = o.repetition_penalty,
                             .greedy = o.greedy,
                             .generator = &generator,
                             .stop = stops(*writer.tokenizer),
                             .on_token =
                                 [&](const Tensor& token) {
                                   return printer.push(token.item<std::int64_t>()) && !kit::interrupted();
                                 },
                             .slide = std::max<std::int64_t>(1, writer.model.options().context / 2)});
  return all.size(0) - prompt.size(0);
}

std::int64_t search(const Writer& writer, const Tensor& prompt, const Options& o, Printer& printer) {
  if (o.count == 0) return 0;
  const std::int64_t context = writer.model.options().context, room = context + 1 - prompt.size(0);
  if (room < 1)
    fail_input_with(
        "--beams: a prompt of {} tokens fills the context of {}, and a search does not slide: "
        "expects a shorter one",
        prompt.size(0), context);
  const nn::Hypothesis best =
      writer.model
          .beam_search(prompt,
                       {.beams = o.beams, .count = std::min(o.count, room), .stop = stops(*writer.tokenizer)})
          .front();
  for (const std::int64_t id : best.tokens)
    if (!printer.push(id)) break;
  return std::ssize(best.tokens);
}

}  // namespace

Written write(const Writer& writer, const std::string& prompt, const Options& o, Generator& generator,
              const std::function<void(std::string_view)>& print) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::int64_t> ids = ids_of(*writer.tokenizer, prompt);
  const Tensor start = from_vector(ids, {std::ssize(ids)});
  Printer printer(*writer.tokenizer, o.stop, print);
  Written written;
  written.tokens =
      o.beams > 1 ? search(writer, start, o, printer) : draw(writer, start, o, generator, printer);
  printer.finish();
  written.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return written;
}

}  // namespace gradus::gpt2
