#pragma once
// German sentences and their English translations, as files and as tokens.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gradus/core/tensor.h"
#include "gradus/text/tokenizer.h"

namespace gradus::lab::translation {

/// train.de, train.en, test.de and test.en in `folder`, or in the folder multi30k in it; each plain or with
/// .gz after its name. Throws, naming the folder, where one is missing.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

/// The part of the files that is used.
struct Selection {
  std::int64_t vocabulary = 2000;  // tokens of the vocabulary that both languages share
  std::int64_t longest = 16;       // tokens of either side at most
  std::int64_t test = 200;         // pairs of the test files: the first so many that are short enough
};

// The first tokens of the vocabulary.
inline constexpr std::int64_t kPad = 0, kStart = 1, kEnd = 2;

struct Pairs {
  std::vector<Tensor> source, target;  // i64 [T], ended by kEnd

  std::int64_t size() const { return static_cast<std::int64_t>(source.size()); }
};

struct Sentences {
  std::shared_ptr<const text::Tokenizer> tokenizer;  // byte-level BPE of the training files alone
  Pairs train, test;
  std::vector<std::string> references;  // the test targets as in the file
};

/// The same for the same files. Throws, naming the files, if they differ in their numbers of lines or nothing
/// is short enough.
Sentences read_sentences(const std::filesystem::path& folder, const Selection& selection);

}  // namespace gradus::lab::translation
