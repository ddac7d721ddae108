#pragma once
// Caches the ids of words: a few thousand words make up most of a text.

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/text/detail/tokens.h"

namespace gradus::text::detail {

class WordCache {
 public:
  /// Appends the ids of `word`; for a new word, make(word, ids) computes them, as int32.
  template <class Make>
  void append(std::string_view word, Ids& out, const Make& make) {
    if (word.size() > kLongest) {
      fresh_.clear();
      make(word, fresh_);
      out.insert(out.end(), fresh_.begin(), fresh_.end());
      return;
    }
    auto at = places_.find(word);
    if (at == places_.end()) at = learn(word, make);
    const std::int32_t* ids = ids_.data() + at->second.begin;
    out.insert(out.end(), ids, ids + at->second.count);
  }

 private:
  static constexpr std::size_t kLongest = 64, kMost = 1 << 17;
  struct Place {
    std::uint32_t begin, count;
  };

  template <class Make>
  StringMap<Place>::iterator learn(std::string_view word, const Make& make) {
    fresh_.clear();
    make(word, fresh_);
    if (places_.size() >= kMost) {
      places_.clear();
      ids_.clear();
    }
    const Place place{static_cast<std::uint32_t>(ids_.size()), static_cast<std::uint32_t>(fresh_.size())};
    ids_.insert(ids_.end(), fresh_.begin(), fresh_.end());
    return places_.try_emplace(std::string(word), place).first;
  }

  StringMap<Place> places_;
  std::vector<std::int32_t> ids_, fresh_;
};

/// One T, kept between calls; while one thread uses it, others make temporary ones.
template <class T>
class Shared {
 public:
  template <class Make, class Use>
  void use(const Make& make, const Use& use) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
      T own = make();
      use(own);
      return;
    }
    if (!kept_) kept_.emplace(make());
    use(*kept_);
  }

 private:
  std::mutex mutex_;
  std::optional<T> kept_;
};

}  // namespace gradus::text::detail
