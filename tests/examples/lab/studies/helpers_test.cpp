#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/random/random.h"
#include "gradus/gradus.h"
#include "lab/studies/charts.h"
#include "lab/studies/runs.h"
#include "lab/studies/slope.h"
#include "lab/studies/start/ridge.h"
#include "lab/training/weights.h"
#include "near.h"

using namespace gradus;
using namespace gradus::lab;

TEST_CASE("the slope on logarithms is the exponent, whatever the factor") {
  CHECK(log_slope({1, 2, 4}, {3, 6, 12}) == gradus::test::near(1));
  CHECK(log_slope({6, 24, 96}, {5, 2.5, 1.25}) == gradus::test::near(-0.5));
  CHECK(std::isnan(log_slope({2, 2}, {1, 3})));
  CHECK(std::isnan(log_slope({1, 2}, {1, 0})));
  CHECK(std::isnan(log_slope({1, 2}, {1, std::nan("")})));
  CHECK(std::isnan(log_slope({}, {})));
}

TEST_CASE("the slope for a doubling, of any numbers") {
  CHECK(slope_per_doubling({32, 64, 256}, {1, 0.5, -0.5}) == gradus::test::near(-0.5));
  CHECK(slope_per_doubling({6, 12, 24}, {0, 0, 3}) == gradus::test::near(1.5));
  CHECK(std::isnan(slope_per_doubling({2, 2}, {1, 3})));
  CHECK(std::isnan(slope_per_doubling({1, 2}, {1, std::nan("")})));
  CHECK(std::isnan(slope_per_doubling({1, 2, 4}, {1, 3})));
}

TEST_CASE("the rate of an exponential is the slope of its logarithms") {
  CHECK(exponential_rate({0, 1, 2}, {3, 1.5, 0.75}) == gradus::test::near(std::log(0.5)));
  CHECK(exponential_rate({8, 32, 192}, {2, 2, 2}) == doctest::Approx(0));
  CHECK(std::isnan(exponential_rate({1, 2}, {1, 0})));
  CHECK(std::isnan(exponential_rate({1}, {1})));
}

TEST_CASE("bands leave out values that are not finite, and positions without values") {
  const kit::Series line = band("a", {1, 2, 3}, {{1, 3, INFINITY}, {NAN}, {5}}, 2);
  CHECK(line.x == std::vector<double>{1, 3});
  CHECK(line.y == std::vector<double>{2, 5});
  CHECK(line.low == std::vector<double>{1, 5});
  CHECK(line.high == std::vector<double>{3, 5});
  const kit::Series curves = band_of_curves("b", {{1, 2}, {3, 4, 5}}, 0);
  CHECK(curves.x == std::vector<double>{1, 2, 3});
  CHECK(curves.y == std::vector<double>{2, 3, 5});
  CHECK(mean_and_range({NAN}) == "\u2013");
  CHECK(mean_and_range({2}) == "2");
  CHECK(mean_and_range({1, 2, 3}) == "2 (1 to 3)");
}

TEST_CASE("the runs of a setting: by seed, finished ones only, and the number above 0") {
  StudyResults results;
  for (const int seed : {0, 2})
    results.records["a-s" + std::to_string(seed)].measured = {
        .numbers = {{"loss", 1.0 + seed}, {"diverged", seed > 0}}, .series = {{"losses", {1.0 * seed}}}};
  const Runs runs(results, {0, 1, 2}, [](std::uint64_t seed) { return "a-s" + std::to_string(seed); });
  CHECK(runs.numbers("loss") == std::vector<double>{1, 3});
  CHECK(runs.by_seed("loss")[2] == 3);
  CHECK(std::isnan(runs.by_seed("loss")[1]));
  CHECK(runs.curves("losses") == std::vector<std::vector<double>>{{0}, {2}});
  CHECK(share_of(runs.numbers("diverged")) == "1 of 2");
  Figures figures;
  keep(figures, "x", NAN);
  CHECK(figures.empty());
  keep(figures, "x", 2);
  CHECK(figures.at("x") == std::vector<double>{2});
}

TEST_CASE("lines, panels and tables have the labels of their items, and leave out items without values") {
  const std::vector<Titled> items = {{"a", "first"}, {"b", "second"}};
  const std::vector<std::int64_t> depths = {2, 6};
  const auto values = [](const Titled& item, std::int64_t layers) {
    return item.name == "a"
               ? std::vector<double>{}
               : std::vector<double>{static_cast<double>(layers), 4 * static_cast<double>(layers)};
  };
  const std::vector<kit::Series> all = lines(items, depths, values);
  REQUIRE(all.size() == 1);
  CHECK(all[0].name == "second");
  CHECK(all[0].style == 1);
  CHECK(all[0].x == std::vector<double>{2, 6});
  CHECK(all[0].y == std::vector<double>{5, 15});
  CHECK(lines(items, depths, values, kit::Spread::band, geometric_mean)[0].y[0] == gradus::test::near(4));
  CHECK(without_bands(all)[0].low.empty());
  const kit::Panels both = panels("both", items, [&](const Titled& item) {
    return kit::LineChart{.title = item.title,
                          .series = lines(std::vector<Titled>{item}, depths, values),
                          .references = {{.at = 1, .label = "least"}}};
  });
  REQUIRE(both.panels.size() == 1);
  CHECK(both.panels[0].title == "second");
  const kit::Panels twice = label_once({.panels = {both.panels[0], both.panels[0]}});
  CHECK(twice.panels[0].references[0].label == "least");
  CHECK(twice.panels[1].references[0].label.empty());
  const kit::Table table =
      cross_table("c", "corner", items, depths,
                  [](const Titled& item, std::int64_t layers) { return item.name + std::to_string(layers); });
  CHECK(table.header == std::vector<std::string>{"corner", "2 layers", "6 layers"});
  CHECK(table.rows == std::vector<std::vector<std::string>>{{"first", "a2", "a6"}, {"second", "b2", "b6"}});
  const auto order =
      ranked(items, [](const Titled& item) { return std::vector<double>{-1.0 * (item.name == "b")}; });
  CHECK(order.front().second == "second");
}

TEST_CASE("positions on the axis of steps") {
  std::vector<double> losses(400);
  for (std::size_t i = 0; i < 400; ++i) losses[i] = static_cast<double>(i + 1);
  CHECK(thinned_steps(400, 40) == thinned(losses, 40));
  CHECK(middles_of_slices(12, 3) == std::vector<double>{2, 6, 10});
  CHECK(ends_of_slices(12, 3) == std::vector<double>{4, 8, 12});
}

TEST_CASE("ridge regression recovers targets that are linear in the features, and no others") {
  Generator generator(1);
  const std::vector<double> noise = Tensor(randn({600, 4}, generator, f64)).to_vector<double>();
  Rows features;
  std::vector<double> linear, unrelated;
  for (std::size_t i = 0; i < 600; ++i) {
    features.push_back({noise[4 * i], 100 * noise[4 * i + 1], 7});  // one is constant
    linear.push_back(3 * noise[4 * i] - noise[4 * i + 1] + 2);
    unrelated.push_back(noise[4 * i + 2]);
  }
  CHECK(held_out_r2(features, linear, 400) > 0.999);
  CHECK(held_out_r2(features, unrelated, 400) < 0.05);
  CHECK(mean_held_out_r2(features, {linear, unrelated}, 400) ==
        gradus::test::near((held_out_r2(features, linear, 400) + held_out_r2(features, unrelated, 400)) / 2));
  CHECK_THROWS(held_out_r2(features, linear, 600));
}

TEST_CASE("initial weights have the size of their scheme, and are the same numbers times factors") {
  const std::int64_t layers = 8;
  const auto deviation = [&](const std::string& scheme, const char* name, std::int64_t from = 0) {
    const nn::TransformerEncoder encoder({.layers = layers, .block = {.d_model = 64, .heads = 4}});
    Generator generator(3);
    set_weights(encoder, scheme, layers, generator);
    const Tensor w = encoder.layers[0].parameter(name);
    return w.slice(0, from).std().item();
  };
  CHECK(deviation("fan_in", "linear2.weight") == gradus::test::near(1.0 / 16, 0.03));
  CHECK(deviation("fan_in_scaled", "linear2.weight") == gradus::test::near(1.0 / 64, 0.03));
  CHECK(deviation("fan_in_scaled", "linear1.weight") == gradus::test::near(1.0 / 8, 0.03));
  CHECK(deviation("xavier", "self_attn.in_proj_weight") == gradus::test::near(1.0 / 8, 0.03));
  CHECK(deviation("xavier", "linear1.weight") == gradus::test::near(std::sqrt(2.0 / 320), 0.03));
  CHECK(deviation("small", "linear1.weight") == gradus::test::near(0.02, 0.03));
  CHECK(deviation("gpt2", "self_attn.out_proj.weight") == gradus::test::near(0.005, 0.03));
  const double factor = 0.67 * std::pow(8, -0.25);
  CHECK(deviation("tfixup", "linear2.weight") ==
        gradus::test::near(factor * deviation("xavier", "linear2.weight")));
  CHECK(deviation("tfixup", "self_attn.in_proj_weight", 128) ==
        gradus::test::near(factor * deviation("xavier", "self_attn.in_proj_weight", 128)));
  CHECK(deviation("xiong", "self_attn.in_proj_weight", 128) > 0.1);
  const nn::TransformerEncoder encoder({.layers = 1, .block = {.d_model = 8, .heads = 1}});
  Generator generator(3);
  set_weights(encoder, "xiong", 1, generator);
  CHECK(encoder.layers[0].parameter("self_attn.in_proj_weight").slice(0, 0, 16).norm().item() == 0);
  CHECK_THROWS_WITH(set_weights(encoder, "none", 1, generator), doctest::Contains("'none'"));
}
