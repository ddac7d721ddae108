#pragma once
// Markdown as the documentation check needs it: quoted code and output, links, headings.

#include <cstddef>
#include <string>
#include <vector>

namespace docs {

using Lines = std::vector<std::string>;

Lines read_lines(const std::string& path);  // throws std::runtime_error when it cannot be read
Lines split_lines(const std::string& text);
std::string join_lines(const Lines& lines);

/// A fenced block under a comment that says where its text comes from:
///   <!-- snippet: examples/course/02_tensors/main.cpp#views -->   the region between `// [views]` and `// [/views]`
///   <!-- snippet: tests/consumer/main.cpp -->               the whole file
///   <!-- output: 02_tensors -->                             everything the program prints
///   <!-- output: 02_tensors lines 3-9 -->                   those lines of it, counted from 1
/// or a table, no fenced block, under:
///   <!-- rows: tests/docs/a_test.cpp#shape -->        what rows() makes of that region
///   <!-- chapters -->                                 a row for each chapter (chapters.h)
struct Quote {
  bool is_output = false;
  bool is_rows = false;
  bool is_chapters = false;
  std::string source;     // file or program
  std::string region;     // of a snippet; empty: the whole file
  std::size_t first = 0;  // of an output, counted from 1; 0: all of it
  std::size_t last = 0;
  std::size_t line = 0;   // of the comment, counted from 1
  std::size_t begin = 0;  // the block's text is lines [begin, end)
  std::size_t end = 0;
  std::string indent;  // spaces before the comment and each line of its block, in a list
};

/// All quotes of a page; throws std::runtime_error, with the line, for a comment that is not understood or
/// has no fenced block under it.
std::vector<Quote> find_quotes(const Lines& page);

/// The lines between `// [name]` and `// [/name]`, without common indentation and without other such marks;
/// the whole file when `name` is empty. Throws when the region is missing or opened twice.
Lines region(const Lines& file, const std::string& name);

/// A table of two columns from the lines of a region of a test, one row for every `// py: CALL`: CALL, and
/// the code under it up to the next comment, or the line that checks it, a CHECK or gives(). A row that is
/// one gives(EXPRESSION, "VALUE"); shows the expression. `// note: TEXT` adds words, `// here: TEXT` stands
/// in the place of code. Throws on a row without code or words.
Lines rows(const Lines& region);

struct Link {
  std::string target;  // as written, such as "docs/tape.md#order"
  std::size_t line = 0;
};

/// Links and images outside of code, in Markdown or HTML.
std::vector<Link> find_links(const Lines& page);

/// The anchors of a page's headings, as GitHub makes them: "## The tape" gives "the-tape"; and of lines
/// that are nothing but one, `<a id="claim-13"></a>`.
std::vector<std::string> anchors(const Lines& page);

}  // namespace docs
