#include <nlohmann/json.hpp>

#include <limits>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "lab/claims/claims_json.h"
#include "lab/claims/ledger.h"

namespace gradus::lab {

namespace {

using Keyed = nlohmann::ordered_json;  // in the order written

Estimate estimate_named(const std::string& name) {
  if (name == "t") return Estimate::mean_t;
  if (name == "bootstrap") return Estimate::mean_bootstrap;
  if (name == "median") return Estimate::median;
  if (name == "share") return Estimate::share;
  if (name == "exact") return Estimate::exact;
  if (name == "logit") return Estimate::mean_logit;
  fail_with("claims/data: estimate expects t, bootstrap, logit, median, share or exact, got {}",
            io::quote(name));
}

/// "yes", "no" or "unclear": whether the band is expected to hold.
std::optional<Judgement> prediction_in(const Keyed& json) {
  if (!json.contains("prediction")) return std::nullopt;
  const auto word = json.at("prediction").get<std::string>();
  for (const Judgement one : {Judgement::holds, Judgement::fails, Judgement::unclear})
    if (judgement_label(one) == word) return one;
  fail_with("claims/data: prediction expects yes, no or unclear, got {}", io::quote(word));
}

double bound(const Keyed& value, double open) { return value.is_null() ? open : value.get<double>(); }

Measure measure_of(const Keyed& json) {
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  return {.id = json.at("id").get<std::string>(),
          .where = json.value("where", ""),
          .what = json.at("what").get<std::string>(),
          .estimate = estimate_named(json.at("estimate").get<std::string>()),
          .low = bound(json.at("band").at(0), -kOpen),
          .high = bound(json.at("band").at(1), kOpen),
          .quick = json.value("quick", true),
          .prediction = prediction_in(json)};
}

Claim claim_of(const Keyed& json) {
  Claim claim{.number = json.at("number").get<int>(),
              .text = json.at("claim").get<std::string>(),
              .source = json.at("source").get<std::string>(),
              .study = json.value("study", ""),
              .measures = {},
              .note = json.value("note", ""),
              .paper = json.value("paper", ""),
              .prediction = json.value("prediction", ""),
              .scope = json.value("scope", ""),
              .phrases = json.value("phrases", std::vector<std::string>{}),
              .disputed = json.value("disputed", false),
              .all_needed = json.value("all_needed", false)};
  for (const Keyed& measure : json.value("measures", Keyed::array()))
    claim.measures.push_back(measure_of(measure));
  return claim;
}

std::vector<Claim> read_claims() {
  std::vector<Claim> all;
  for (const char* part : kClaimsJson)
    for (Claim& claim : claims_in(part)) all.push_back(std::move(claim));
  std::sort(all.begin(), all.end(), [](const Claim& a, const Claim& b) { return a.number < b.number; });
  return all;
}

}  // namespace

std::vector<Claim> claims_in(const std::string& json) {
  std::vector<Claim> all;
  for (const Keyed& one : Keyed::parse(json)) all.push_back(claim_of(one));
  return all;
}

const std::vector<Claim>& claims() {
  static const std::vector<Claim> all = read_claims();
  return all;
}

const Claim& claim_numbered(int number) {
  for (const Claim& claim : claims())
    if (claim.number == number) return claim;
  fail_input_with("there is no claim {}; there are {} to {}", number, claims().front().number,
                  claims().back().number);
}

}  // namespace gradus::lab
