#include "browser/figures/tape.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/gradus.h"

namespace gradus::browser {

namespace {

/// The values of an expression by name, in order of computation. The tape's nodes have no names.
class Lines {
 public:
  Tensor input(const std::string& name, Tensor x) {
    x.requires_grad_();
    return add(name, "", x);
  }
  Tensor add(const std::string& name, const std::string& code, const Tensor& x) {
    lines_.push_back({name, code, x});
    return x;
  }
  struct Line {
    std::string name, code;
    Tensor x;
  };
  const Line& of(const Node* node) const {
    const auto line = std::find_if(lines_.begin(), lines_.end(),
                                   [&](const Line& one) { return one.x.node().get() == node; });
    check(line != lines_.end(), "tape: {} on the tape belongs to no line of the expression", node->op);
    return *line;
  }

 private:
  std::vector<Line> lines_;
};

using Values = std::vector<double>;

Tensor tanh_line(Lines& lines, const Values& in) {
  const Tensor a = lines.input("a", tensor(in[0])), b = lines.input("b", tensor(in[1])),
               c = lines.input("c", tensor(in[2]));
  const Tensor p = lines.add("p", "a * b", a * b);
  const Tensor s = lines.add("s", "p + c", p + c);
  return lines.add("y", "tanh(s)", tanh(s));
}

Tensor used_twice(Lines& lines, const Values& in) {
  const Tensor w = lines.input("w", tensor(in[0])), x = lines.input("x", tensor(in[1]));
  const Tensor h = lines.add("h", "w * x", w * x);
  const Tensor hh = lines.add("hh", "h * h", h * h);
  return lines.add("y", "hh + h", hh + h);
}

Tensor neuron(Lines& lines, const Values& in) {
  const Tensor w = lines.input("w", tensor(in[0])), b = lines.input("b", tensor(in[1]));
  const double x = in[2], target = in[3];  // data: not recorded
  const Tensor p = lines.add("p", "w * x", w * x);
  const Tensor z = lines.add("z", "p + b", p + b);
  const Tensor h = lines.add("h", "relu(z)", relu(z));
  const Tensor e = lines.add("e", "h - t", h - target);
  return lines.add("loss", "square(e)", square(e));
}

Tensor layer_norm_in_parts(Lines& lines, const Values& in) {
  const Tensor x = lines.input("x", from_vector(in, {3}));
  const Tensor mean = lines.add("mu", "x.mean()", x.mean());
  const Tensor d = lines.add("d", "x - mu", x - mean);
  const Tensor sq = lines.add("sq", "square(d)", square(d));
  const Tensor var = lines.add("var", "sq.mean()", sq.mean());
  const Tensor more = lines.add("v", "var + eps", var + 1e-5);
  const Tensor sd = lines.add("sd", "sqrt(v)", sqrt(more));
  const Tensor y = lines.add("y", "d / sd", d / sd);
  return lines.add("y1", "y[0]", y[0]);
}

Tensor layer_norm_at_once(Lines& lines, const Values& in) {
  const Tensor x = lines.input("x", from_vector(in, {3}));
  const Tensor y = lines.add("y", "layer_norm(x)", layer_norm(x));
  return lines.add("y1", "y[0]", y[0]);
}

struct Entry {
  Expression expression;
  Tensor (*run)(Lines&, const Values&);
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"tanh", "y = tanh(a b + c)", {"a", "b", "c"}, {2, -0.5, 0.3}}, tanh_line},
      {{"twice", "h used twice: y = h h + h", {"w", "x"}, {3, 2}}, used_twice},
      {{"neuron", "a neuron: (relu(w x + b) − t)²", {"w", "b", "x", "t"}, {1.5, -0.5, 1, 2}}, neuron},
      {{"parts", "layer norm, in parts", {"x₁", "x₂", "x₃"}, {3, -0.5, 1}}, layer_norm_in_parts},
      {{"norm", "layer norm, as one op", {"x₁", "x₂", "x₃"}, {3, -0.5, 1}}, layer_norm_at_once}};
  return all;
}

Values numbers(const Array& array) { return Tensor(array).to_vector<double>(); }

/// The nodes behind y, in the order in which they were recorded.
std::vector<Node*> notes_behind(const Tensor& y) {
  std::set<Node*> seen;
  const std::function<void(Node*)> visit = [&](Node* node) {
    if (!node || !seen.insert(node).second) return;
    for (const NodePtr& input : node->inputs) visit(input.get());
  };
  visit(y.node().get());
  std::vector<Node*> notes(seen.begin(), seen.end());
  std::sort(notes.begin(), notes.end(), [](const Node* a, const Node* b) { return a->order < b->order; });
  return notes;
}

Array array_of(const Gradient& gradient) {
  if (!gradient.write()) return gradient.array();
  const Tensor part = zeros(gradient.shape(), gradient.dtype());
  (*gradient.write())(part.array(), false);
  return part.array();
}

/// The gradient accumulated at each node, one contribution at a time.
void add_totals(TapeRun& run) {
  std::vector<Values> totals(run.notes.size());
  for (TapeVisit& visit : run.visits)
    for (Handed& handed : visit.handed) {
      Values& total = totals[handed.to];
      total.resize(handed.part.size());
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += handed.part[i];
      handed.total = total;
    }
}

const Entry& checked(const std::string& expression, const Values& values) {
  const auto entry = std::find_if(entries().begin(), entries().end(),
                                  [&](const Entry& one) { return one.expression.name == expression; });
  check(entry != entries().end(), "tape: there is no expression called {}", expression);
  const std::vector<std::string>& inputs = entry->expression.inputs;
  check(values.size() == inputs.size(), "tape: {} expects {} values, got {}", expression, inputs.size(),
        values.size());
  for (const double value : values)
    check(std::abs(value) <= 100, "tape: expects values from -100 to 100, got {}", value);
  return *entry;
}

}  // namespace

std::vector<Expression> expressions() {
  std::vector<Expression> all;
  for (const Entry& entry : entries()) all.push_back(entry.expression);
  return all;
}

TapeRun run_tape(const std::string& expression, const std::vector<double>& values) {
  const DefaultDType doubles(f64);
  Lines lines;
  const Tensor y = checked(expression, values).run(lines, values);
  const std::vector<Node*> nodes = notes_behind(y);
  const auto place = [&](const Node* node) {
    return static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  };
  TapeRun run;
  for (Node* const node : nodes) {
    const Lines::Line& line = lines.of(node);
    TapeNote note{line.name, line.code, node->op, {}, node->shape, numbers(line.x.array())};
    for (const NodePtr& input : node->inputs)
      if (input) note.inputs.push_back(place(input.get()));
    run.notes.push_back(std::move(note));
    // The engine calls this when the node's gradient is complete, just before calling the node's backward.
    // The node owns the hook: the hook must not own the node, or neither would ever be freed.
    line.x.on_grad([&run, &place, node](const Array& gradient) {
      TapeVisit visit{place(node), numbers(gradient), {}};
      const Grads parts = node->is_leaf ? Grads() : node->backward(gradient, Needs(*node));
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (node->inputs[i])
          visit.handed.push_back({place(node->inputs[i].get()), numbers(array_of(parts[i])), {}});
      run.visits.push_back(std::move(visit));
    });
  }
  y.backward(/*retain_graph=*/true);
  add_totals(run);
  return run;
}

}  // namespace gradus::browser
