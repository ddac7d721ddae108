#include "gpt2/stop_text.h"

#include <algorithm>
#include <utility>

namespace gradus::gpt2 {

std::string StopText::push(std::string_view piece) {
  if (met_) return "";
  waiting_ += piece;
  if (stop_.empty()) return flush();
  if (const std::size_t at = waiting_.find(stop_); at != std::string::npos) {
    met_ = true;
    return std::exchange(waiting_, "").substr(0, at);
  }
  std::size_t kept = std::min(waiting_.size(), stop_.size() - 1);  // of an end that may begin stop
  while (kept > 0 && !waiting_.ends_with(std::string_view(stop_).substr(0, kept))) --kept;
  std::string shown = waiting_.substr(0, waiting_.size() - kept);
  waiting_.erase(0, shown.size());
  return shown;
}

std::string StopText::flush() { return std::exchange(waiting_, ""); }

}  // namespace gradus::gpt2
