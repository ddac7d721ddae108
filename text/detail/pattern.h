#pragma once
// A regular expression that splits text into pieces (PCRE2, compiled to machine code).

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gradus::text::detail {

class Pattern {
 public:
  /// Throws, naming `who` and the position of the error, if the expression is invalid.
  Pattern(const std::string& who, std::string expression);

  /// Finds matches in one text after another; for one thread.
  class Matcher {
   public:
    explicit Matcher(const Pattern& pattern);

    /// Calls each(piece) for every match and for the text between matches, in order: together they are the
    /// whole text, which must be valid UTF-8. Empty matches are ignored.
    template <class F>
    void split(std::string_view text, const F& each) {
      for (std::size_t done = 0; done < text.size();) {
        const std::size_t before = done;
        for (const std::size_t end : chain(text, done)) {
          if (end > done) each(text.substr(done, end - done));
          done = end;
        }
        if (done > before) continue;
        const Match match = find(text, done);
        if (match.begin > done) each(text.substr(done, match.begin - done));
        if (match.end > match.begin) each(text.substr(match.begin, match.end - match.begin));
        done = match.end;
      }
    }

   private:
    struct Match {
      std::size_t begin, end;
    };
    struct State;
    /// The ends of adjacent matches from here on, at most some thousands.
    std::span<const std::size_t> chain(std::string_view text, std::size_t from);
    /// The next match that is not empty, or the end of the text.
    Match find(std::string_view text, std::size_t from);
    int run(bool chained, std::string_view text, std::size_t from);

    const Pattern* pattern_;
    std::shared_ptr<State> state_;
  };

 private:
  struct Code;
  std::string who_, expression_;
  std::shared_ptr<const Code> code_;   // finds one match
  std::shared_ptr<const Code> chain_;  // finds adjacent ones in one call: several times as fast; may be null
};

}  // namespace gradus::text::detail
