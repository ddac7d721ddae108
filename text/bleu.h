#pragma once
// BLEU with sacreBLEU's defaults.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus::text {

/// The result of bleu().
struct Bleu {
  double score = 0;                                 // 0..100
  std::array<double, 4> precisions{};               // of 1-, 2-, 3- and 4-grams, 0..100
  std::array<std::int64_t, 4> matches{}, ngrams{};  // precision = 100 matches / ngrams, before smoothing
  double brevity_penalty = 0;                       // 1, or less for translations that are too short
  std::int64_t length = 0, reference_length = 0;    // in words
};

/// The corpus-level agreement of translations with references (Papineni et al. 2002): the geometric mean of
/// the precisions of 1- to 4-grams, times exp(1 - reference_length / length) if that is less than 1. Words
/// are those of mteval 13a; an order without a match counts as half a match, the next as a quarter, ... (Post
/// 2018, sacreBLEU's BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp). `text::bleu(translations,
/// references).score`
///
/// Throws when there are none, or when the numbers of references and hypotheses differ.
Bleu bleu(std::span<const std::string> hypotheses, std::span<const std::string> references);
/// The same with several references for each hypothesis: sets[0] has the first reference of each, sets[1] the
/// second.
Bleu bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> sets);

/// Splits a line into words like mteval-v13a: punctuation is separated, but not within numbers. "1,000 men."
/// has 3 words.
std::vector<std::string> words_13a(std::string_view line);

}  // namespace gradus::text
