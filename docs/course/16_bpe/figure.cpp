// The picture of chapter 16: bytes per token against the size of the vocabulary.

#include "docs/draw/course_figure.h"
#include "examples/course/16_bpe/bpe.h"
#include "examples/course/16_bpe/texts.h"

namespace gradus::docs {

namespace {

void add(kit::Series& series, const small::Bpe& bpe, const std::string& text) {
  series.x.push_back(static_cast<double>(bpe.tokens.size()));
  series.y.push_back(static_cast<double>(text.size()) / static_cast<double>(bpe.encode(text).size()));
}

kit::LineChart draw() {
  const small::Text& english = small::kTexts[0];
  kit::Series training{.name = "training", .markers = false, .style = 1};
  kit::Series other{.name = "others", .markers = false, .style = 0};
  for (const std::size_t vocab : {256, 272, 288, 320, 352, 400, 450, 500, 550, 600, 650, 700, 769}) {
    const small::Bpe bpe(english.training, vocab);
    add(training, bpe, english.training);
    add(other, bpe, english.other);
  }
  return {.title = "Bytes per token",
          .description = "Both rise, other sentences more and more slowly than those of training.",
          .x_label = "tokens in the vocabulary",
          .y_label = "bytes per token",
          .series = {training, other}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
