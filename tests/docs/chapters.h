#pragma once
// The chapters of the course, found by listing folders, and the lines generated from them.

#include <string>
#include <vector>

#include "docs/markdown.h"

namespace docs {

struct Chapter {
  std::string name;     // of its folders: 11_layer_norm
  std::string title;    // of its page, without the number
  std::string picture;  // of its page, relative to the root
  std::string alt;
  std::string shows;    // the first line of its program
  std::string seconds;  // that its page says the program takes: "4" or "< 1"
};

/// In their order; throws std::runtime_error if a page or program lacks one of these.
std::vector<Chapter> chapters(const std::string& root);

/// The table of examples/README.md, under `<!-- chapters -->`.
Lines chapter_table(const std::vector<Chapter>& chapters);

/// The last line of the page of chapter i, which links to the contents and the two neighbours.
std::string chapter_footer(const std::vector<Chapter>& chapters, std::size_t i);

}  // namespace docs
