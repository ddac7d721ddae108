#pragma once
// Two files with the same sentences in two languages, line by line.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::translate {

/// The files of a corpus and the options that name them: "--val-source" and "--val-target".
struct Files {
  std::string prefix = "--";  // of the options
  std::filesystem::path source = {}, target = {};

  std::string source_option() const { return prefix + "source"; }
  std::string target_option() const { return prefix + "target"; }
  bool given() const { return !source.empty() && !target.empty(); }
};

/// Sentences and their translations.
struct Corpus {
  std::vector<std::string> source, target;

  std::size_t size() const { return source.size(); }
};

/// Throws, naming `who`, if a line is not UTF-8: `expect_utf8(line, "--source: de: line 3");`
void expect_utf8(const std::string& line, const std::string& who);

/// The lines of a text. The last one may lack its newline, "\r\n" ends a line too, and a byte order mark at
/// the beginning is removed. Throws, naming `who`, if there are none, or one is not UTF-8.
std::vector<std::string> lines_of(std::string_view text, const std::string& who);

/// Reads both files, plain or gzip. Throws, naming option and file, if one cannot be read, is empty,
/// truncated or not UTF-8, or if they have different numbers of lines.
Corpus read_corpus(const Files& files);

/// Removes the pairs with an empty side, and returns their number.
std::int64_t drop_empty_pairs(Corpus& corpus);

/// Takes `count` evenly spaced pairs from a corpus that has more.
Corpus set_apart(Corpus& corpus, std::size_t count);

}  // namespace gradus::translate
