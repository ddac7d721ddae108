#pragma once
// A model and its tokenizer: where they come from, where they go, and what they write.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "gpt2/options.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/text/tokenizer.h"

namespace gradus::gpt2 {

struct Writer {
  nn::GPT model;
  std::shared_ptr<const text::Tokenizer> tokenizer;
};

/// The model of --weights with its tokenizer. Throws, naming files, where they do not fit each other.
Writer load(const Options& options);
/// The tokenizer of --tokenizer; none where that is not given.
std::shared_ptr<const text::Tokenizer> given_tokenizer(const Options& options);
/// A new model, with this tokenizer or, where that is none, one learned from `text`.
Writer make(const Options& options, std::shared_ptr<const text::Tokenizer> tokenizer,
            const std::string& text);
/// As load() reads it.
void save(const Writer& writer, const std::filesystem::path& folder);

/// What was written, and how fast.
struct Written {
  std::int64_t tokens = 0;
  double seconds = 0;
};

/// Goes on from a prompt as the options have it, piece by piece: whole characters, nothing of --stop. Throws
/// where an empty prompt has no token to begin with.
Written write(const Writer& writer, const std::string& prompt, const Options& options, Generator& generator,
              const std::function<void(std::string_view)>& print);

}  // namespace gradus::gpt2
