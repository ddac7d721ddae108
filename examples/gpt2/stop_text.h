#pragma once
// A text that arrives in pieces, up to a stop string.

#include <string>
#include <string_view>

namespace gradus::gpt2 {

/// Passes a text on up to `stop`, which is not shown: a possible beginning of it is held back. `StopText
/// text("\n\n"); out << text.push("Hello") << text.flush();`
class StopText {
 public:
  /// Empty: everything passes.
  explicit StopText(std::string stop) : stop_(std::move(stop)) {}

  /// The text that can be shown now.
  std::string push(std::string_view piece);
  /// The text held back, at the end.
  std::string flush();
  /// Whether the text has ended.
  bool met() const { return met_; }

 private:
  std::string stop_, waiting_;
  bool met_ = false;
};

}  // namespace gradus::gpt2
