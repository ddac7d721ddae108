#include "lab/training/recall_language.h"

#include <cmath>

#include "gradus/core/check.h"
#include "gradus/kit/data/utf8.h"

namespace gradus::lab {
namespace {

const std::string digits = "0123456789";
const std::string all_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

const RecallOptions& checked(const RecallOptions& options) {
  const auto most_boxes = static_cast<std::int64_t>(digits.size());
  const auto most_letters = static_cast<std::int64_t>(all_letters.size());
  check(options.boxes >= 2 && options.boxes <= most_boxes, "RecallLanguage: expects 2 to {} boxes, got {}",
        most_boxes, options.boxes);
  check(options.things >= 2 && options.things <= most_letters / options.boxes,
        "RecallLanguage: {} boxes leave 2 to {} things for each ({} letters in all), got {}", options.boxes,
        most_letters / options.boxes, most_letters, options.things);
  check(options.length >= 2 && options.length % 2 == 0,
        "RecallLanguage: expects an even length of at least 2 (boxes and things in pairs), got {}",
        options.length);
  check(options.chain >= 0 && options.chain <= 3, "RecallLanguage: expects a chain of 0 to 3 boxes, got {}",
        options.chain);
  return options;
}

/// Rows of probabilities, a few of them large: softmax of 1.5 times normal numbers, the same for all
/// languages of a size.
std::vector<double> chain_table(const RecallOptions& options) {
  if (options.chain == 0) return {};
  Generator generator(0x636861696e, static_cast<std::uint64_t>(options.chain));
  const auto boxes = static_cast<std::size_t>(options.boxes);
  std::size_t rows = 1;
  for (std::int64_t i = 0; i < options.chain; ++i) rows *= boxes;
  std::vector<double> table(rows * boxes);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t box = 0; box < boxes; ++box)
      sum += table[row * boxes + box] = std::exp(1.5 * generator.normal());
    for (std::size_t box = 0; box < boxes; ++box) table[row * boxes + box] /= sum;
  }
  return table;
}

std::size_t draw(Generator& generator, std::int64_t bound) {
  return static_cast<std::size_t>(generator.below(bound));
}

std::size_t draw(Generator& generator, const double* probabilities, std::size_t count) {
  double left = generator.uniform();
  std::size_t i = 0;
  while (i + 1 < count && left >= probabilities[i]) left -= probabilities[i++];
  return i;
}

}  // namespace

RecallLanguage::RecallLanguage(const RecallOptions& options)
    : options_(checked(options)),
      table_(chain_table(options)),
      letters_(all_letters.substr(0, static_cast<std::size_t>(options.boxes * options.things))),
      vocabulary_(
          kit::code_points("\n" + digits.substr(0, static_cast<std::size_t>(options.boxes)) + letters_)) {}

const double* RecallLanguage::row_after(const std::vector<std::size_t>& boxes) const {
  const auto chain = static_cast<std::size_t>(options_.chain), all = static_cast<std::size_t>(options_.boxes);
  if (chain == 0 || boxes.size() < chain) return nullptr;
  std::size_t row = 0;
  for (std::size_t i = boxes.size() - chain; i < boxes.size(); ++i) row = row * all + boxes[i];
  return table_.data() + row * all;
}

double RecallLanguage::surprise(const std::string& document) const {
  check(std::ssize(document) == 1 + options_.length,
        "RecallLanguage: a document has 1 + {} characters, got {}", options_.length, document.size());
  std::vector<std::size_t> boxes;
  std::vector<bool> opened(static_cast<std::size_t>(options_.boxes));
  double sum = 0;
  for (std::size_t i = 1; i < document.size(); i += 2) {
    const std::size_t box = digits.find(document[i]);
    const double* const row = row_after(boxes);
    sum += row ? -std::log(row[box]) : std::log(static_cast<double>(options_.boxes));
    if (!opened.at(box)) sum += std::log(static_cast<double>(options_.things));
    opened[box] = true;
    boxes.push_back(box);
  }
  return sum;
}

std::string RecallLanguage::document(Generator& generator) const {
  std::string in_box(static_cast<std::size_t>(options_.boxes), '\0');  // '\0': not opened yet
  std::string text = "\n";
  std::vector<std::size_t> boxes;
  for (std::int64_t pair = 0; pair < options_.length / 2; ++pair) {
    const double* const row = row_after(boxes);
    const std::size_t box = row ? draw(generator, row, in_box.size()) : draw(generator, options_.boxes);
    boxes.push_back(box);
    if (in_box[box] == '\0') {
      in_box[box] =
          letters_[box * static_cast<std::size_t>(options_.things) + draw(generator, options_.things)];
    }
    text += digits[box];
    text += in_box[box];
  }
  return text;
}

Batch RecallLanguage::batch(std::int64_t count, Generator& generator) const {
  kit::Tokens tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    const kit::Tokens more = vocabulary_.encode(std::string_view(document(generator)));
    tokens.insert(tokens.end(), more.begin(), more.end());
  }
  const Tensor documents = Tensor(tokens).view({count, options_.length + 1});
  return {documents.slice(1, 0, options_.length).contiguous(), documents.slice(1, 1).contiguous()};
}

double RecallLanguage::entropy_at(std::int64_t place) const {
  check(options_.chain == 0, "RecallLanguage: with a chain the loss of the source is the mean of surprise()");
  check(place >= 0 && place < options_.length, "RecallLanguage: place {} is outside 0..{}", place,
        options_.length - 1);
  const auto boxes = static_cast<double>(options_.boxes);
  if (place % 2 == 0) return std::log(boxes);
  const auto pair = static_cast<double>(place / 2);
  return std::pow(1 - 1 / boxes, pair) * std::log(static_cast<double>(options_.things));
}

double RecallLanguage::entropy() const {
  check(options_.chain == 0, "RecallLanguage: with a chain the loss of the source is the mean of surprise()");
  const auto boxes = static_cast<double>(options_.boxes);
  const auto things = static_cast<double>(options_.things);
  const auto pairs = static_cast<double>(options_.length / 2);
  const double opened =
      boxes * (1 - std::pow(1 - 1 / boxes, pairs));  // expected number of boxes named at all
  return (pairs * std::log(boxes) + opened * std::log(things)) / (2 * pairs);
}

}  // namespace gradus::lab
