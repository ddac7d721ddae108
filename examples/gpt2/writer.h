#pragma once
// A model and its tokenizer: loading, saving and generating text.

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

/// The model of --weights with its tokenizer. Throws, naming files, if they do not match.
Writer load(const Options& options);
/// The tokenizer of --tokenizer; none if that is not given.
std::shared_ptr<const text::Tokenizer> given_tokenizer(const Options& options);
/// A new model, with this tokenizer or, if there is none, one learned from `text`.
Writer make(const Options& options, std::shared_ptr<const text::Tokenizer> tokenizer,
            const std::string& text);
/// In the format that load() reads.
void save(const Writer& writer, const std::filesystem::path& folder);

/// The number of tokens generated, and the time it took.
struct Written {
  std::int64_t tokens = 0;
  double seconds = 0;
};

/// Continues a prompt according to the options, piece by piece: whole characters, up to --stop. Throws if the
/// prompt is empty and the vocabulary has no token to begin with.
Written write(const Writer& writer, const std::string& prompt, const Options& options, Generator& generator,
              const std::function<void(std::string_view)>& print);

}  // namespace gradus::gpt2
