#include "lab/studies/papers/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "gradus/gradus.h"
#include "lab/studies/papers/without_norm.h"
#include "lab/studies/tiny.h"

namespace gradus::lab::papers {

namespace {

// One head as wide as the stream, so the keys' matrix loses no direction, and many more keys than channels.
constexpr std::int64_t kKeyWidth = 8, kKeyLayers = 2, kKeyLines = 8;
constexpr double kInside = 1e-6;  // of keys of variance 1

double dot(const Point& a, const Point& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

/// The solution of a small system; empty if it has none.
Point solution_of(std::vector<Point> matrix, Point right) {
  const std::size_t n = right.size();
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row)
      if (std::abs(matrix[row][column]) > std::abs(matrix[pivot][column])) pivot = row;
    if (std::abs(matrix[pivot][column]) < 1e-12) return {};
    std::swap(matrix[column], matrix[pivot]);
    std::swap(right[column], right[pivot]);
    for (std::size_t row = column + 1; row < n; ++row) {
      const double factor = matrix[row][column] / matrix[column][column];
      for (std::size_t k = column; k < n; ++k) matrix[row][k] -= factor * matrix[column][k];
      right[row] -= factor * right[column];
    }
  }
  for (std::size_t row = n; row-- > 0;) {
    for (std::size_t k = row + 1; k < n; ++k) right[row] -= matrix[row][k] * right[k];
    right[row] /= matrix[row][row];
  }
  return right;
}

/// Least squares with these columns alone.
Point weights_of(const std::vector<Point>& columns, const std::vector<std::size_t>& used,
                 const Point& target) {
  std::vector<Point> products;
  Point right;
  for (const std::size_t i : used) {
    products.emplace_back();
    for (const std::size_t j : used) products.back().push_back(dot(columns[i], columns[j]));
    right.push_back(dot(columns[i], target));
  }
  return solution_of(std::move(products), std::move(right));
}

Point with_one(Point point) {
  point.push_back(1);
  return point;
}

/// The keys of a line in one layer, of variance 1.
std::vector<Point> scaled(std::vector<Point> keys) {
  const std::size_t width = keys.front().size();
  Point mean(width);
  for (const Point& key : keys)
    for (std::size_t c = 0; c < width; ++c) mean[c] += key[c] / static_cast<double>(keys.size());
  double squares = 0;
  for (Point& key : keys)
    for (std::size_t c = 0; c < width; ++c) key[c] -= mean[c], squares += key[c] * key[c];
  const double deviation = std::sqrt(squares / static_cast<double>(keys.size() * width));
  if (deviation > 0)
    for (Point& key : keys)
      for (double& value : key) value /= deviation;
  return keys;
}

const Task& key_task() {
  static const Task language{RecallOptions{.boxes = 4, .things = 4, .length = 64}};
  return language;
}

/// The mean over layers and lines.
double share_in(const nn::GPT& model) {
  const NoGrad guard;
  const Tensor ids = key_task().validation().inputs.slice(0, 0, kKeyLines);
  Tensor x = model.token_embedding(ids) + (*model.position_embedding)(ids.size(1));
  double sum = 0;
  for (const nn::AnyBlock& layer : model.transformer.layers) {
    const nn::PreLNBlock& block = *layer.as<nn::PreLNBlock>();
    const nn::MultiheadAttention& attention = block.self_attn;
    const Tensor keys = linear(block.norm1(x), attention.in_proj_weight.slice(0, kKeyWidth, 2 * kKeyWidth),
                               attention.in_proj_bias.slice(0, kKeyWidth, 2 * kKeyWidth));
    for (std::int64_t line = 0; line < kKeyLines; ++line) {
      std::vector<Point> points;
      for (std::int64_t position = 0; position < keys.size(1); ++position)
        points.push_back(keys.select(0, line).select(0, position).to_vector<double>());
      sum += unselectable_share(std::move(points));
    }
    x = layer(x);
  }
  return sum / static_cast<double>(kKeyLayers * kKeyLines);
}

}  // namespace

// Lawson and Hanson's algorithm for weights that are not negative: the squared misfit of sum w_j (x_j, 1) to
// (x, 1) is made as small as possible. It is 0 for a weighted mean.
bool in_hull(const Point& point, const std::vector<Point>& others) {
  std::vector<Point> columns;
  for (const Point& other : others) columns.push_back(with_one(other));
  const Point target = with_one(point);
  Point weights(columns.size());
  std::vector<std::size_t> used;
  for (std::size_t solved = 0; solved <= 20 * columns.size();) {
    Point rest = target;
    for (const std::size_t j : used)
      for (std::size_t c = 0; c < rest.size(); ++c) rest[c] -= weights[j] * columns[j][c];
    const double misfit = std::sqrt(dot(rest, rest));
    if (misfit < kInside) return true;
    double most = 1e-9 * misfit;
    std::optional<std::size_t> next;  // the column that reduces the misfit fastest
    for (std::size_t j = 0; j < columns.size(); ++j)
      if (std::find(used.begin(), used.end(), j) == used.end() && dot(columns[j], rest) > most)
        most = dot(columns[j], rest), next = j;
    if (!next) return false;  // `rest` is a query that selects the point
    used.push_back(*next);
    while (!used.empty()) {
      ++solved;
      const Point solution = weights_of(columns, used, target);
      if (solution.empty()) return false;  // no progress beyond rounding
      double step = 1;
      for (std::size_t i = 0; i < used.size(); ++i)
        if (const double w = weights[used[i]]; solution[i] <= 0) step = std::min(step, w / (w - solution[i]));
      for (std::size_t i = 0; i < used.size(); ++i)
        weights[used[i]] += step * (solution[i] - weights[used[i]]);
      if (step == 1) break;
      std::erase_if(used, [&](std::size_t j) {
        if (weights[j] > 1e-12) return false;
        weights[j] = 0;
        return true;
      });
    }
  }
  return false;
}

double unselectable_share(std::vector<Point> keys) {
  keys = scaled(std::move(keys));
  double inside = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::vector<Point> others = keys;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    inside += in_hull(keys[i], others) ? 1 : 0;
  }
  return inside / static_cast<double>(keys.size());
}

const std::vector<KeyKind>& key_kinds() {
  static const std::vector<KeyKind> all = {
      {"layer", "LayerNorm", nn::make_norm<nn::LayerNorm>},
      {"centred", "LayerNorm without its division", nn::make_norm<CentredNorm>}};
  return all;
}

std::string keys_name(const KeyKind& kind, std::uint64_t seed) {
  return fmt::format("keys-{}-s{}", kind.name, seed);
}

Runs keys_runs(const StudyResults& results, const std::vector<std::uint64_t>& seeds, const KeyKind& kind) {
  return {results, seeds, [&](std::uint64_t seed) { return keys_name(kind, seed); }};
}

Measured measure_keys(const KeyKind& kind, std::int64_t steps, std::uint64_t seed) {
  TrialOptions options = tiny_trial(steps);
  options.block = {.d_model = kKeyWidth, .heads = 1, .norm = kind.norm};
  options.layers = kKeyLayers;
  options.lr = kKeyRate;
  options.seed = seed;
  nn::GPT model = new_model(key_task(), options);
  Measured measured{.numbers = {{"start", share_in(model)}}};
  const TrialResult result = train(key_task(), model, options);
  measured.numbers["unselectable"] = result.diverged ? NAN : share_in(model);
  measured.numbers["loss"] = result.final_loss;
  return measured;
}

}  // namespace gradus::lab::papers
