// summary(): a model as a table.

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/module_node.h"
#include "gradus/nn/module/module.h"

namespace gradus::nn {

namespace {

using Row = std::array<std::string, 5>;  // name, kind, output, parameters, count
using Outputs = std::unordered_map<const ModuleNode*, Shape>;

/// 1234567 -> "1,234,567"
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::int64_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

struct Totals {
  std::int64_t all = 0, trainable = 0, bytes = 0, buffers = 0, buffer_bytes = 0;
};

/// The row of a module's own parameters; a parameter in an earlier row is not counted again.
Row row_of(const ModuleNode& node, const std::string& name, const Outputs& outputs,
           std::unordered_set<const Node*>& seen, Totals& totals) {
  std::string shapes;
  std::int64_t count = 0;
  for (const auto& [key, values] : node.parameters) {
    const bool first = seen.insert(values.node().get()).second;
    shapes +=
        fmt::format("{}{} {}{}", shapes.empty() ? "" : ", ", key, values.shape(), first ? "" : " (shared)");
    if (!first) continue;
    count += values.numel();
    totals.bytes += values.numel() * static_cast<std::int64_t>(size_of(values.dtype()));
    if (values.requires_grad()) totals.trainable += values.numel();
  }
  for (const auto& buffer : node.buffers) {
    ++totals.buffers;
    totals.buffer_bytes += buffer.values.numel() * static_cast<std::int64_t>(size_of(buffer.values.dtype()));
  }
  totals.all += count;
  const auto output = outputs.find(&node);
  return {name, node.kind.empty() ? "Module" : node.kind,
          output == outputs.end() ? "" : to_string(output->second), shapes, count == 0 ? "" : grouped(count)};
}

}  // namespace

std::string summary(const Module& model) { return detail::summary_of_call(model, nullptr); }

std::string detail::summary_of_call(const Module& model, const std::function<void()>* call) {
  Outputs outputs;
  if (call != nullptr) {
    const ForwardHook hook = model.on_forward(
        [&](const Module& module, const Tensor& y) { outputs[module.node_.get()] = y.shape(); });
    const NoGrad no_grad;
    const EvalMode eval_mode(model);
    (*call)();
  }
  std::vector<Row> rows{{"name", "kind", "output", "parameters", "count"}};
  std::unordered_set<const Node*> seen;
  Totals totals;
  walk(*model.node_, "", [&](const ModuleNode& node, const std::string& name) {
    const std::string shown = name.empty() ? "(model)" : name;
    // A transparent part has its parent's name: it gets a row only if it owns tensors.
    const bool known = std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row[0] == shown; });
    if (known && node.parameters.empty() && node.buffers.empty()) return;
    rows.push_back(row_of(node, shown, outputs, seen, totals));
  });

  std::array<std::size_t, 5> width{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text;
  for (const auto& [name, kind, output, shapes, count] : rows) {
    text += fmt::format("{:<{}}  {:<{}}  ", name, width[0], kind, width[1]);
    if (call != nullptr) text += fmt::format("{:<{}}  ", output, width[2]);
    text += fmt::format("{:<{}}  {:>{}}", shapes, width[3], count, width[4]);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  text += fmt::format("{} parameters, {} trainable, {} bytes", grouped(totals.all), grouped(totals.trainable),
                      grouped(totals.bytes));
  if (totals.buffers > 0)
    text += fmt::format("; {} buffers, {} bytes", totals.buffers, grouped(totals.buffer_bytes));
  return text + '\n';
}

}  // namespace gradus::nn
