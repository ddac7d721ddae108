#include "lab/studies/translation/sentences.h"

#include <algorithm>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/gzip.h"
#include "gradus/text/train.h"

namespace gradus::lab::translation {

namespace {

using Path = std::filesystem::path;

std::vector<std::string> lines_of(const Path& file) {
  const std::string who = io::printable(file.string()), bytes = kit::read_file(file, "--data");
  const std::string text = kit::is_gzip(bytes) ? kit::unzipped(bytes, who) : bytes;
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

struct Lines {
  std::vector<std::string> source, target;
};

Lines read_both(const Path& source, const Path& target) {
  Lines lines{lines_of(source), lines_of(target)};
  check_input(lines.source.size() == lines.target.size(),
              "{} has {} lines, {} has {}: expects a translation in each line",
              io::printable(source.string()), lines.source.size(), io::printable(target.string()),
              lines.target.size());
  return lines;
}

text::Ids tokens_of(const text::Tokenizer& tokenizer, const std::string& line) {
  text::Ids ids = tokenizer.encode_ordinary(line);
  ids.push_back(kEnd);
  return ids;
}

/// The first `count` pairs with 1 to `longest` tokens on either side, and their line numbers.
std::pair<Pairs, std::vector<std::size_t>> short_ones(const text::Tokenizer& tokenizer, const Lines& lines,
                                                      std::int64_t longest, std::size_t count) {
  Pairs pairs;
  std::vector<std::size_t> kept;
  const auto fits = [&](const text::Ids& ids) {
    return ids.size() > 1 && static_cast<std::int64_t>(ids.size()) <= longest + 1;
  };
  for (std::size_t i = 0; i < lines.source.size() && kept.size() < count; ++i) {
    const text::Ids source = tokens_of(tokenizer, lines.source[i]),
                    target = tokens_of(tokenizer, lines.target[i]);
    if (!fits(source) || !fits(target)) continue;
    pairs.source.push_back(from_vector(source));
    pairs.target.push_back(from_vector(target));
    kept.push_back(i);
  }
  return {std::move(pairs), std::move(kept)};
}

}  // namespace

std::vector<Path> files_in(const Path& folder) {
  for (const Path& place : {folder, folder / "multi30k"}) {
    std::vector<Path> files;
    for (const char* name : {"train.de", "train.en", "test.de", "test.en"}) {
      const Path plain = place / name, zipped = place / (std::string(name) + ".gz");
      if (std::filesystem::is_regular_file(plain))
        files.push_back(plain);
      else if (std::filesystem::is_regular_file(zipped))
        files.push_back(zipped);
    }
    if (files.size() == 4) return files;
  }
  fail_input_with(
      "--data: {} is not a folder with train.de, train.en, test.de and test.en, each plain or .gz, such as "
      "Multi30k's, and has no folder multi30k with them",
      io::printable(folder.string()));
}

Sentences read_sentences(const Path& folder, const Selection& selection) {
  const std::vector<Path> files = files_in(folder);
  const Lines train = read_both(files[0], files[1]), test = read_both(files[2], files[3]);
  std::vector<std::string> texts = train.source;
  texts.insert(texts.end(), train.target.begin(), train.target.end());
  Sentences all;
  all.tokenizer = std::make_shared<text::ByteLevelBPE>(text::train_byte_level_bpe(
      texts, {.vocab = selection.vocabulary, .special_tokens = {"<pad>", "<s>", "</s>"}}));
  all.train = short_ones(*all.tokenizer, train, selection.longest, train.source.size()).first;
  auto [pairs, lines] =
      short_ones(*all.tokenizer, test, selection.longest, static_cast<std::size_t>(selection.test));
  all.test = std::move(pairs);
  for (const std::size_t line : lines) all.references.push_back(test.target[line]);
  check_input(all.train.size() > 0 && all.test.size() > 0,
              "--data: no pair of {} and {}, or none of {} and {}, has at most {} tokens on either side",
              io::printable(files[0].string()), io::printable(files[1].string()),
              io::printable(files[2].string()), io::printable(files[3].string()), selection.longest);
  return all;
}

}  // namespace gradus::lab::translation
