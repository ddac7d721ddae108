#include "translate/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/gzip.h"
#include "gradus/text/utf8_stream.h"

namespace gradus::translate {

namespace {

std::vector<std::string> read_lines(const std::string& option, const std::filesystem::path& file) {
  const std::string bytes = kit::read_file_or_pipe(file, option.c_str());
  const std::string who = fmt::format("{}: {}", option, file.string());
  return lines_of(kit::is_gzip(bytes) ? kit::unzipped(bytes, who) : bytes, who);
}

bool has_words(const std::string& line) { return line.find_first_not_of(" \t") != std::string::npos; }

}  // namespace

void expect_utf8(const std::string& line, const std::string& who) {
  text::Utf8Stream stream;
  std::string whole = stream.push(line);
  whole += stream.flush();
  if (whole != line) fail_input_with("{} is not UTF-8: convert it, with iconv for example", who);
}

std::vector<std::string> lines_of(std::string_view text, const std::string& who) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    expect_utf8(lines.back(), fmt::format("{}: line {}", who, lines.size()));
  }
  if (lines.empty()) fail_input_with("{}: is empty: expects one sentence per line", who);
  return lines;
}

Corpus read_corpus(const Files& files) {
  Corpus corpus{read_lines(files.source_option(), files.source),
                read_lines(files.target_option(), files.target)};
  if (corpus.source.size() != corpus.target.size())
    fail_input_with(
        "{} {} has {} lines, {} {} has {}: expects files in which a line and its translation have the same "
        "number",
        files.source_option(), files.source.string(), corpus.source.size(), files.target_option(),
        files.target.string(), corpus.target.size());
  return corpus;
}

std::int64_t drop_empty_pairs(Corpus& corpus) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    if (!has_words(corpus.source[i]) || !has_words(corpus.target[i])) continue;
    std::swap(corpus.source[kept], corpus.source[i]);
    std::swap(corpus.target[kept], corpus.target[i]);
    ++kept;
  }
  const std::size_t dropped = corpus.size() - kept;
  corpus.source.resize(kept);
  corpus.target.resize(kept);
  return static_cast<std::int64_t>(dropped);
}

Corpus set_apart(Corpus& corpus, std::size_t count) {
  Corpus rest, taken;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    // one each time i * count / size advances
    const bool take = (i + 1) * count / corpus.size() > i * count / corpus.size();
    Corpus& side = take ? taken : rest;
    side.source.push_back(std::move(corpus.source[i]));
    side.target.push_back(std::move(corpus.target[i]));
  }
  corpus = std::move(rest);
  return taken;
}

}  // namespace gradus::translate
