#pragma once
// A text that comes in pieces, up to some words.

#include <string>
#include <string_view>

namespace gradus::gpt2 {

/// Lets a text through up to `stop`, nothing of which is shown: what may be its beginning waits.
/// `StopText text("\n\n"); out << text.push("Hello") << text.flush();`
class StopText {
 public:
  /// Empty: everything passes.
  explicit StopText(std::string stop) : stop_(std::move(stop)) {}

  /// What can be shown now.
  std::string push(std::string_view piece);
  /// What waited, at the end.
  std::string flush();
  /// Whether the text has ended.
  bool met() const { return met_; }

 private:
  std::string stop_, waiting_;
  bool met_ = false;
};

}  // namespace gradus::gpt2
