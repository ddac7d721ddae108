#include "gradus/text/detail/word_cache.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>

namespace gradus::text::detail {

namespace {

/// Gives a word its length and its last byte as ids, and counts how often it does.
struct Counting {
  Ids ids_of(std::string_view word) {
    Ids ids;
    cache.append(word, ids, [&](std::string_view text, std::vector<std::int32_t>& out) {
      ++made;
      out.push_back(static_cast<std::int32_t>(text.size()));
      out.push_back(text.back());
    });
    return ids;
  }
  WordCache cache;
  int made = 0;
};

}  // namespace

TEST_CASE("WordCache: the ids of a word are made once, those of a long word each time") {
  Counting words;
  for (int i = 0; i < 3; ++i) CHECK(words.ids_of("abc") == Ids{3, 'c'});
  CHECK(words.made == 1);
  for (int i = 0; i < 3; ++i) CHECK(words.ids_of(std::string(64, 'x')) == Ids{64, 'x'});
  CHECK(words.made == 2);
  for (int i = 0; i < 3; ++i) CHECK(words.ids_of(std::string(65, 'y')) == Ids{65, 'y'});
  CHECK(words.made == 5);
}

TEST_CASE("WordCache: when it is full, it begins again") {
  constexpr int kMost = 1 << 17;
  Counting words;
  int wrong = 0;
  const auto ask = [&](int number) {
    const std::string word = std::to_string(number);
    wrong += words.ids_of(word) != Ids{static_cast<std::int64_t>(word.size()), word.back()};
  };
  for (int i = 0; i < kMost; ++i) ask(i);
  ask(0);
  CHECK(words.made == kMost);
  ask(kMost);  // one too many
  ask(kMost);
  CHECK(words.made == kMost + 1);
  for (int i = 0; i < 100; ++i) ask(i);
  CHECK(words.made == kMost + 101);
  CHECK(wrong == 0);
}

TEST_CASE("Shared: while one thread uses the object, another makes its own") {
  Shared<int> shared;
  int made = 0, seen = 0;
  const auto make = [&] { return ++made; };
  shared.use(make, [&](int& kept) {
    CHECK(kept == 1);
    std::thread([&] { shared.use(make, [&](int& own) { seen = own; }); }).join();
    kept = 7;
  });
  CHECK(seen == 2);
  shared.use(make, [&](int& kept) { CHECK(kept == 7); });
  CHECK(made == 2);
}

}  // namespace gradus::text::detail
