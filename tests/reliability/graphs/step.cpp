#include "reliability/graphs/step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>

#include "reliability/graphs/interpreter.h"

namespace gradus::test::graphs {

namespace {

std::string braces(const Dims& dims) {
  return fmt::format("{{{}}}", fmt::join(dims.begin(), dims.end(), ", "));
}

std::string name_of(Ref ref, const std::vector<Step>& steps) {
  const Step& step = steps[sz(ref.step)];
  const bool pair = step.op && (step.op->name == "sort" || step.op->name == "topk" ||
                                step.op->name.find("_with_indices") != std::string::npos);
  const bool list =
      step.kind == Kind::gradient ||
      (step.op && (step.op->name == "split" || step.op->name == "chunk" || step.op->name == "unbind"));
  if (pair) return fmt::format("v{}.{}", ref.step, ref.output == 0 ? "first" : "second");
  if (list) return fmt::format("v{}[{}]", ref.step, ref.output);
  return fmt::format("v{}", ref.step);
}

std::string parameter(const std::string& name, const Step& p) {
  if (name == "axis") return fmt::format("{}", p.axis);
  if (name == "other") return fmt::format("{}", p.other);
  if (name == "n") return fmt::format("{}", p.n);
  if (name == "m") return fmt::format("{}", p.m);
  if (name == "a") return fmt::format("{}", p.a);
  if (name == "b") return fmt::format("{}", p.b);
  if (name == "keep") return p.keep ? "true" : "false";
  if (name == "flag") return p.flag ? "true" : "false";
  if (name == "axes") return braces(p.axes);
  if (name == "sizes") return braces(p.sizes);
  if (name == "equation") return '"' + p.equation + '"';
  if (name == "list") {
    Dims list;
    for (const Int i : p.list) list.push_back(i);
    return braces(list);
  }
  return name;
}

/// The call with the names of its inputs and the values of its parameters.
std::string call(const Step& p, const std::vector<Step>& steps) {
  const std::string& text = p.op->text;
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool starts = i == 0 || (!std::isalnum(static_cast<unsigned char>(text[i - 1])) &&
                                   text[i - 1] != '_' && text[i - 1] != '.');
    if (starts && text.compare(i, 2, "x[") == 0) {
      out += name_of(p.inputs[sz(text[i + 2] - '0')], steps);
      i += 4;
    } else if (starts && text[i] == 'x' && i + 1 < text.size() &&
               (text[i + 1] == ',' || text[i + 1] == ')')) {
      std::vector<std::string> names;
      for (const Ref ref : p.inputs) names.push_back(name_of(ref, steps));
      out += fmt::format("{{{}}}", fmt::join(names, ", "));
      ++i;
    } else if (starts && text.compare(i, 2, "p.") == 0) {
      std::size_t end = i + 2;
      while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
      out += parameter(text.substr(i + 2, end - i - 2), p);
      i = end;
    } else if (text.compare(i, 12, "reduction(p)") == 0) {
      out += p.n == 0 ? "Reduction::none" : p.n == 1 ? "Reduction::mean" : "Reduction::sum";
      i += 12;
    } else {
      out += text[i++];
    }
  }
  return out;
}

const char* type_name(DType dtype) {
  return dtype == f32 ? "f32" : dtype == f64 ? "f64" : dtype == i64 ? "i64" : "boolean";
}

std::string statement(const Step& p, std::size_t number, const std::vector<Step>& steps) {
  const std::string x = p.inputs.empty() ? "" : name_of(p.inputs[0], steps);
  switch (p.kind) {
    case Kind::leaf:
      return fmt::format("Tensor v{} = from_vector<double>({{{}}}, {}).to({});", number,
                         fmt::join(p.values, ", "), braces(p.shape), type_name(p.dtype));
    case Kind::op:
      if (p.checkpoint) {
        return fmt::format(
            "auto v{} = checkpoint([](std::span<const Tensor> x) -> Tensor {{ return {}; }}, {{...}});  // "
            "of {}{}",
            number, p.op->text, call(p, steps), p.autocast ? ", within Autocast(bf16)" : "");
      }
      if (p.no_grad || p.autocast) {
        return fmt::format("auto v{} = [&] {{ {}{}return {}; }}();", number, p.no_grad ? "NoGrad off; " : "",
                           p.autocast ? "Autocast products(bf16); " : "", call(p, steps));
      }
      return fmt::format("auto v{} = {};", number, call(p, steps));
    case Kind::write:
      return p.no_grad ? fmt::format("{{ NoGrad off; {}; }}", call(p, steps)) : call(p, steps) + ";";
    case Kind::hook:
      switch (static_cast<HookKind>(p.n)) {
        case HookKind::observe:
          return x + ".on_grad([](const Array&) {});";
        case HookKind::scale:
          return fmt::format("{}.on_grad([](const Tensor& g) {{ return g * {}; }});", x, p.a);
        case HookKind::square:
          return x + ".on_grad([](const Tensor& g) { return g * g; });";
        default:
          return fmt::format("{}.on_grad([](const Array& g) {{ return (Tensor(g) * {}).array(); }});", x,
                             p.a);
      }
    case Kind::retain:
      return x + ".retain_grad();";
    case Kind::zero_grad:
      return x + ".zero_grad();";
    case Kind::backward:
      return fmt::format("{}.backward({}{});", x, p.seeded ? name_of(p.inputs[1], steps) + ", " : "",
                         p.retain_graph);
    default: {
      std::vector<std::string> wanted;
      for (std::size_t i = p.seeded ? 2 : 1; i < p.inputs.size(); ++i)
        wanted.push_back(name_of(p.inputs[i], steps));
      return fmt::format(
          "auto v{} = grad({}, {{{}}}, {{{}.retain_graph = {}, .create_graph = {}, .allow_unused = true}});",
          number, x, fmt::join(wanted, ", "),
          p.seeded ? ".grad_output = " + name_of(p.inputs[1], steps) + ", " : "", p.retain_graph,
          p.create_graph);
    }
  }
}

}  // namespace

std::string program(const std::vector<Step>& steps) {
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) text += "  " + statement(steps[i], i, steps) + "\n";
  return text;
}

}  // namespace gradus::test::graphs
