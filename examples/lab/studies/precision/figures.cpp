#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lab/claims/referee.h"
#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/precision/precision.h"

namespace gradus::lab::precision {

namespace {

constexpr double kShare = 0.05;  // of failures: claim 97's band

/// The losses of a search at the rate chosen for each seed.
std::vector<double> at_rates(const StudyResults& results, const Search& search,
                             const std::vector<double>& rates) {
  std::vector<double> losses;
  for (std::size_t i = 0; i < search.seeds.size(); ++i)
    losses.push_back(
        std::isfinite(rates[i]) ? results.number(search.run(rates[i], search.seeds[i]), search.number) : NAN);
  return without_failed(losses, tiny_task().context_free_loss());
}

/// Of the runs that best_of() chooses in each mode: their largest numbers, a minus b.
std::vector<double> largest_between(const StudyResults& results, const Search& a, const Search& b) {
  return paired_difference(at_best(results, a, "largest"), at_best(results, b, "largest"));
}

/// That the search, if it is one, has found the lowest or highest of its rates best, for any seed.
std::optional<Objection> ends(const StudyResults& results, const Search& search, const std::string& title) {
  const std::vector<double> chosen = best_of(results, search).rates;
  const bool at_edge = search.rates.size() > 1 && std::any_of(chosen.begin(), chosen.end(), [&](double rate) {
                         return rate == search.rates.front() || rate == search.rates.back();
                       });
  return end_of_search(at_edge, title);
}

}  // namespace

std::vector<double> loss_between(const StudyResults& results, const Search& mode, const Search& base) {
  const std::vector<double> rates = best_of(results, base).rates;
  return minus(at_rates(results, mode, rates), at_rates(results, base, rates));
}

std::vector<double> failed_share(const StudyResults& results, const Search& search) {
  std::vector<double> shares;
  for (const std::uint64_t seed : search.seeds) {
    double failed = 0;
    for (const double rate : search.rates) {
      const std::string run = search.run(rate, seed);
      if (!results.has(run))
        failed = NAN;
      else if (!(results.number(run, "loss") < tiny_task().context_free_loss()))
        ++failed;
    }
    shares.push_back(failed / static_cast<double>(search.rates.size()));
  }
  return shares;
}

Figures figures(const StudyResults& results) {
  const Setting setting = setting_of(results.options);
  Figures all;
  for (const Arm& arm : arms()) {
    const Search whole = setting.search(arm.name, "f32"), half = setting.search(arm.name, "bf16");
    all["loss." + arm.name] = finite(loss_between(results, half, whole));
    all.object("loss." + arm.name, ends(results, whole, arm.title + " in f32"));
    all["failed." + arm.name] = paired_difference(failed_share(results, half), failed_share(results, whole));
    all.object("failed." + arm.name, no_difference(all["failed." + arm.name],
                                                   static_cast<std::int64_t>(setting.rates.size()), kShare));
    all["largest." + arm.name] = largest_between(results, half, whole);
    all.object("largest." + arm.name, ends(results, whole, arm.title + " in f32"));
    all.object("largest." + arm.name, ends(results, half, arm.title + " in bf16"));
    if (arm.name != "pre" && arm.name != "post") continue;
    for (const std::string part : {"norms", "softmax", "stream"}) {
      all[part + "." + arm.name] = finite(loss_between(results, setting.search(arm.name, part), half));
      all.object(part + "." + arm.name, ends(results, half, arm.title + " in bf16"));
    }
  }
  for (const std::int64_t layers : setting.depths) {
    const Search stream = setting.search("pre", "stream", layers),
                 products = setting.search("pre", "bf16", layers);
    const std::string depth = ".L" + std::to_string(layers), in = fmt::format("Pre-LN, {} layers, ", layers);
    all["vanished" + depth] = finite(at_best(results, stream, "vanished"));
    all.object("vanished" + depth, ends(results, stream, in + "stream in bf16"));
    all["stream" + depth] = finite(loss_between(results, stream, products));
    all.object("stream" + depth, ends(results, products, in + "products in bf16"));
  }
  if (setting.models)
    for (const Titled& model : models())
      all["models." + model.name] = paired_difference(model_runs(results, model.name, true).by_seed("loss"),
                                                      model_runs(results, model.name, false).by_seed("loss"));
  return all;
}

}  // namespace gradus::lab::precision
