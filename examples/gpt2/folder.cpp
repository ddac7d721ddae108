// Loads models and tokenizers from folders and saves them.

#include <system_error>
#include <vector>

#include "gpt2/writer.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/text/train.h"

namespace gradus::gpt2 {

namespace {

constexpr std::int64_t kSpareRows = 1024;  // some models have a few more rows than tokens, for the hardware

/// The published GPT-1's tokenizer is of a kind that is not supported.
std::string remedy(const std::filesystem::path& folder) {
  const std::filesystem::path config = folder / "config.json";
  std::error_code unknown;
  const bool gpt1 = std::filesystem::is_regular_file(config, unknown) &&
                    kit::read_file(config).find("\"openai-gpt\"") != std::string::npos;
  return gpt1 ? "; GPT-1's own tokenizer is not supported: name a folder with another by --tokenizer" : "";
}

std::shared_ptr<const text::Tokenizer> tokenizer_of(const Options& o) {
  if (!o.tokenizer.empty()) return text::load_tokenizer(o.tokenizer);
  try {
    return text::load_tokenizer(o.weights);
  } catch (const Error& error) {
    fail_input(error.what() + remedy(o.weights));
  }
}

void expect_fit(const text::Tokenizer& tokenizer, std::int64_t rows, const Options& o) {
  const std::int64_t tokens = tokenizer.vocab_size();
  if (tokens > rows || rows - tokens >= kSpareRows)
    fail_input_with(
        "{}: the tokenizer has {} tokens, but vocab_size in {} is {}: expects the one with "
        "which the model was trained (--tokenizer FOLDER)",
        (o.tokenizer.empty() ? o.weights : o.tokenizer).string(), tokens,
        (o.weights / "config.json").string(), rows);
}

nn::GPT with_checkpoints(const nn::GPT& model) {
  nn::GPTOptions options = model.options();
  options.checkpoint = true;
  nn::GPT again(options);
  again.load_state_dict(model.state_dict());
  return again;
}

}  // namespace

Writer load(const Options& o) {
  nn::PretrainedOptions given{.dropout = o.dropout};
  if (o.text.empty()) given.context = o.context.value_or(0);  // in training it is the length of a window
  // The tokenizer comes first: it loads quickly.
  auto tokenizer = tokenizer_of(o);
  Writer writer{nn::GPT::load_pretrained(o.weights.string(), given), std::move(tokenizer)};
  expect_fit(*writer.tokenizer, writer.model.options().vocab, o);
  if (!o.text.empty() && o.checkpoint) return {with_checkpoints(writer.model), writer.tokenizer};
  return writer;
}

std::shared_ptr<const text::Tokenizer> given_tokenizer(const Options& o) {
  return o.tokenizer.empty() ? nullptr : text::load_tokenizer(o.tokenizer);
}

Writer make(const Options& o, std::shared_ptr<const text::Tokenizer> tokenizer, const std::string& text) {
  if (!tokenizer)
    tokenizer = std::make_shared<text::ByteLevelBPE>(
        text::train_byte_level_bpe({text}, {.vocab = o.vocab, .special_tokens = {"<|endoftext|>"}}));
  const std::int64_t tokens = tokenizer->vocab_size();
  return {nn::GPT(o.model(tokens)), std::move(tokenizer)};
}

void save(const Writer& writer, const std::filesystem::path& folder) {
  writer.model.save_pretrained(folder.string());
  writer.tokenizer->save(folder);
}

}  // namespace gradus::gpt2
