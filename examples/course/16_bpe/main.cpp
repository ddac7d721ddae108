// Byte-pair encoding from scratch: training, encoding by rank, and what a vocabulary costs.
// Its chapter: docs/course/16_bpe/README.md

#include <cctype>
#include <cstdio>
#include <set>

#include "bpe.h"
#include "gradus/text/text.h"
#include "texts.h"

using namespace gradus;
using namespace small;

namespace {

const Text& english = kTexts[0];
constexpr const char* kBeforeSpaces = " ?[^ ]+| ";  // a pattern that finds what words_of finds

void compare(const Bpe& bpe, const std::string& word) {
  std::printf("  \"%s\" by rank: %s, by longest match: %s\n", word.c_str(),
              bpe.decode(bpe.encode(word), "|").c_str(), bpe.decode(longest_match(bpe, word), "|").c_str());
}

void check_library(const Bpe& bpe) {
  // [library]
  const auto theirs =
      text::train_byte_level_bpe({english.training}, {.vocab = 600, .patterns = {kBeforeSpaces}});
  bool same = theirs.vocab_size() == 600 && theirs.encode(english.other) == bpe.encode(english.other);
  for (std::int64_t id = 0; same && id < 600; ++id) same = theirs.bytes(id) == bpe.decode({id});
  // [/library]
  std::printf("\n600 tokens from English sentences, tried on others. The library has the same: %s\n",
              same ? "yes" : "no");
}

void compare_all(const Bpe& bpe) {
  std::set<std::string> words, differ;
  std::size_t ranked = 0, longest = 0;
  for (const std::string& word : words_of(english.other)) {
    const Ids a = bpe.encode_word(word), b = longest_match(bpe, word);
    ranked += a.size(), longest += b.size();
    words.insert(word);
    if (a != b) differ.insert(word);
  }
  std::printf("  tokens by rank: %zu, by longest match: %zu; %zu of %zu words differ\n", ranked, longest,
              differ.size(), words.size());
  for (const char* word : {" ones", " weights"}) compare(bpe, word);
}

void sizes() {
  std::printf("\n          bytes per token      values in 128   merged tokens that the\n");
  std::printf("  tokens  training  others     channels        training text has 0 to 2 times\n");
  for (const std::size_t vocab : {256, 300, 400, 500, 600, 769}) {
    const Bpe bpe(english.training, vocab);
    const Ids ids = bpe.encode(english.training);
    std::ptrdiff_t rare = 0;
    for (std::size_t id = 256; id < vocab; ++id) rare += std::count(ids.begin(), ids.end(), id) < 3;
    std::printf("  %6zu  %8.2f  %6.2f  %14zu  %14td\n", bpe.tokens.size(),
                double(english.training.size()) / double(ids.size()),
                double(english.other.size()) / double(bpe.encode(english.other).size()), 128 * vocab, rare);
  }
}

void languages(const Bpe& bpe) {
  std::string everything;
  for (const Text& text : kTexts) everything.append(text.training).append(" ");
  const Bpe all(everything, 600);
  std::printf("\nThe same sentences, with 600 tokens from English and with 600 from all five languages:\n");
  std::printf("              characters   bytes   tokens: English     all\n");
  for (const auto& [language, training, other] : kTexts)
    std::printf("  %-10s  %10td  %6zu  %16zu  %6zu\n", language,
                std::count_if(other.begin(), other.end(), [](char c) { return (c & 0xC0) != 0x80; }),
                other.size(), bpe.encode(other).size(), all.encode(other).size());
  const auto half = [](const std::string& token) {  // ends or begins inside a character
    text::Utf8Stream out;
    return out.push(token) != token || !out.flush().empty();
  };
  std::printf("  of the 344 merged tokens from all five, %td have a part of a character\n",
              std::count_if(all.tokens.begin() + 256, all.tokens.end(), half));
}

void cuts() {
  std::printf("\nThe library's 600. Words are cut   tokens   merged with space   with letter and mark\n");
  for (const auto& [how, pattern] : {std::pair{"nowhere", "(?s).+"},
                                     {"before spaces", kBeforeSpaces},
                                     {"as in GPT-2", text::gpt2_pattern}}) {
    const auto bpe = text::train_byte_level_bpe({english.training}, {.vocab = 600, .patterns = {pattern}});
    int spaces = 0, marks = 0;
    for (std::int64_t id = 256; id < bpe.vocab_size(); ++id) {
      const std::string token = bpe.bytes(id), end = token.substr(token.size() - 2);
      spaces += token.find(' ', 1) != std::string::npos;
      marks += std::isalpha(end[0]) && std::ispunct(end[1]);
    }
    std::printf("  %-30s  %7zu  %18d  %21d\n", how, bpe.encode(english.other).size(), spaces, marks);
  }
}

void numbers() {
  std::string text;
  for (int n = 1; n <= 1000; ++n) text += " " + std::to_string(n);
  const Bpe bpe(text, 300);
  std::printf("\nNumbers, with 44 merges from 1 to 1000:");
  for (const char* n : {" 42", " 99", " 123", " 321"})
    std::printf("  \"%s\"", bpe.decode(bpe.encode(n), "|").c_str());
  std::printf("\n");
}

}  // namespace

int main() {
  const Bpe toy("banana bandana", 300), bpe(english.training, 600);
  std::printf("Merged in \"banana bandana\": %s\n", toy.decode({256, 257, 258}, ", ").c_str());
  compare(toy, "ananas");
  check_library(bpe);
  compare_all(bpe);
  sizes();
  languages(bpe);
  cuts();
  numbers();
}
