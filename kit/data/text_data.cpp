#include "gradus/kit/data/text_data.h"

#include <algorithm>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/creation.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/utf8.h"

namespace gradus::kit {
namespace {

template <class T>
std::string decode_tokens(const std::u32string& characters, std::span<const T> tokens) {
  std::u32string text;
  text.reserve(tokens.size());
  for (const T token : tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= characters.size()) {
      fail_with("Vocabulary::decode: token {} is outside 0..{}", token,
                static_cast<std::int64_t>(characters.size()) - 1);
    }
    text += characters[static_cast<std::size_t>(token)];
  }
  return to_utf8(text);
}

/// Removes the byte order mark that some editors write at the beginning.
std::string without_mark(std::string bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
  return bytes;
}

}  // namespace

Vocabulary::Vocabulary(std::u32string_view text) : characters_(text) {
  std::sort(characters_.begin(), characters_.end());
  characters_.erase(std::unique(characters_.begin(), characters_.end()), characters_.end());
  characters_.shrink_to_fit();
}

Tokens::operator Tensor() const {
  return from_vector(std::vector<std::int64_t>(begin(), end()), {static_cast<std::int64_t>(size())});
}

Tokens Vocabulary::encode(std::u32string_view text) const {
  Tokens tokens;
  tokens.reserve(text.size());
  for (const char32_t character : text) {
    const auto place = std::lower_bound(characters_.begin(), characters_.end(), character);
    if (place == characters_.end() || *place != character) {
      fail_with("Vocabulary::encode: U+{:04X} is not among the {} characters of the vocabulary",
                static_cast<std::uint32_t>(character), characters_.size());
    }
    tokens.push_back(static_cast<std::int32_t>(place - characters_.begin()));
  }
  return tokens;
}

Tokens Vocabulary::encode(std::string_view utf8) const { return encode(code_points(utf8)); }

std::string Vocabulary::decode(const Tensor& tokens) const {
  check(tokens.defined(), "Vocabulary::decode: tokens is an undefined tensor: give it a value first");
  check(tokens.dim() == 1 && tokens.dtype() == i64,
        "Vocabulary::decode: expects tokens i64 [N], got {} {}; a row of a batch is tokens[0]",
        name(tokens.dtype()), to_string(tokens.shape()));
  return decode(std::span<const std::int64_t>(tokens.to_vector<std::int64_t>()));
}

std::string Vocabulary::decode(std::span<const std::int32_t> tokens) const {
  return decode_tokens(characters_, tokens);
}
std::string Vocabulary::decode(std::span<const std::int64_t> tokens) const {
  return decode_tokens(characters_, tokens);
}

TextData split_text(std::string_view utf8, std::int64_t context, double train_share,
                    std::string_view source) {
  if (!(train_share > 0 && train_share < 1)) {
    fail_with("split_text: expects a training share between 0 and 1, got {}", train_share);
  }
  if (context < 1) fail_with("split_text: expects a context of at least 1, got {}", context);
  if (utf8.empty()) fail_input_with("split_text: {} is empty", source);
  const std::u32string text = code_points(utf8);
  const auto cut = static_cast<std::size_t>(static_cast<double>(text.size()) * train_share);
  const std::size_t shorter = std::min(cut, text.size() - cut);
  if (shorter < static_cast<std::size_t>(context) + 1) {
    fail_input_with(
        "split_text: {} is too short: its {} characters split into {} for training and {} for validation, "
        "and a context of {} needs at least {} in each; use a longer text or a shorter context",
        source, text.size(), cut, text.size() - cut, context, static_cast<std::size_t>(context) + 1);
  }
  TextData data{Vocabulary(text), {}, {}};
  data.train = data.vocabulary.encode(std::u32string_view(text).substr(0, cut));
  data.validation = data.vocabulary.encode(std::u32string_view(text).substr(cut));
  return data;
}

TextData load_text(const std::filesystem::path& path, std::int64_t context, double train_share) {
  return split_text(without_mark(read_file_or_pipe(path, "load_text")), context, train_share,
                    io::printable(path.string()));
}

std::string read_text(const std::filesystem::path& path, const char* who) {
  std::string bytes = read_file_or_pipe(path, who);
  const std::size_t zero = bytes.find('\0');
  check_input(zero == std::string::npos,
              "{}: {} is not a text: byte {} is 0; unpack an archive, convert UTF-16 to UTF-8", who,
              io::printable(path.string()), zero);
  return without_mark(std::move(bytes));
}

}  // namespace gradus::kit
