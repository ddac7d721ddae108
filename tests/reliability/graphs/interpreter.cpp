#include "reliability/graphs/interpreter.h"

#include <algorithm>
#include <set>

namespace gradus::test::graphs {

double rounding_of(DType dtype) { return dtype == DType::f32 ? 0x1p-24 : dtype == DType::f64 ? 0x1p-53 : 0; }

Block Interpreter::read(const Value& x, bool taped) {
  Block block{x.shape, x.dtype};
  for (std::size_t i = 0; i < x.cells.size(); ++i) {
    const double now = cell(x, i);
    if (!taped || !x.taped())
      block.numbers.push_back(constant(now));
    else if (tape()[x.numbers[i]].value == now)
      block.numbers.push_back(x.numbers[i]);
    else  // written since
      block.numbers.push_back(copy_of(x.numbers[i], now));
  }
  return block;
}

void Interpreter::set_cell(const Value& x, std::size_t i, double value) {
  memories_[sz(x.memory)].cells[sz(x.cells[i])] = value;
}

bool Interpreter::shares_cells(const Value& x) const {
  return std::set<int>(x.cells.begin(), x.cells.end()).size() != x.cells.size();
}

Value Interpreter::in_new_memory(const Shape& shape, DType dtype, const std::vector<double>& numbers) {
  Value y{.defined = true, .shape = shape, .dtype = dtype, .memory = static_cast<int>(memories_.size())};
  for (std::size_t i = 0; i < numbers.size(); ++i) y.cells.push_back(static_cast<int>(i));
  memories_.push_back({numbers, 0});
  return y;
}

Value Interpreter::view_of(const Value& x, const Shape& shape, const std::vector<int>& elements) {
  Value y{.defined = true, .shape = shape, .dtype = x.dtype, .memory = x.memory};
  for (const int element : elements) y.cells.push_back(x.cells[sz(element)]);
  return y;
}

void Interpreter::make_leaf(Value& y) {
  y.node = static_cast<int>(nodes.size());
  for (std::size_t i = 0; i < y.cells.size(); ++i) y.numbers.push_back(copy_of(constant(cell(y, i))));
  nodes.push_back({.numbers = y.numbers, .leaf = true});
}

/// "x0 x1/0 y~ c2"
static std::vector<TapeNode::Read> reads_of(const std::string& text, const std::vector<Value>& inputs,
                                            const Value* output, const std::vector<int>& versions) {
  std::vector<TapeNode::Read> reads;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (word[0] == 'c') continue;
    const bool of_input = word[0] == 'x';
    const std::size_t number = of_input ? sz(word[1] - '0') : 0;
    if (of_input && number >= inputs.size()) continue;
    const Value* const x = of_input ? &inputs[number] : output;
    if (x == nullptr || !x->defined) continue;
    TapeNode::Read read{.memory = x->memory, .version = versions[sz(x->memory)]};
    if (const std::size_t slash = word.find('/'); slash != std::string::npos)
      read.needs = word[slash + 1] - '0';
    read.maybe =
        word.find('?') != std::string::npos || (word.find('~') != std::string::npos && !x->contiguous);
    reads.push_back(read);
  }
  return reads;
}

void Interpreter::record(Value& y, const Block& numbers, const Step& step, const std::vector<Value>& inputs,
                         const Value* output) {
  y.node = static_cast<int>(nodes.size());
  for (std::size_t i = 0; i < y.cells.size(); ++i) y.numbers.push_back(copy_of(numbers[i], cell(y, i)));
  TapeNode node{.numbers = y.numbers, .in_formulas = step.op->reads.find('y') != std::string::npos};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool constant_input = step.op->reads.find("c" + std::to_string(i)) != std::string::npos;
    node.inputs.push_back(constant_input ? -1 : inputs[i].node);
  }
  std::vector<int> versions;
  for (const Memory& memory : memories_) versions.push_back(memory.version);
  if (step.checkpoint) {
    for (const Value& x : inputs)
      node.reads.push_back({.memory = x.memory, .version = versions[sz(x.memory)]});
  } else {
    node.reads = reads_of(step.op->reads, inputs, output, versions);
  }
  nodes.push_back(std::move(node));
}

std::vector<bool> Interpreter::leads_to(int root) const {
  std::vector<bool> leads(nodes.size());
  leads[sz(root)] = true;
  for (int i = root; i >= 0; --i)
    if (leads[sz(i)])
      for (const int input : nodes[sz(i)].inputs)
        if (input >= 0) leads[sz(input)] = true;
  return leads;
}

Pass Interpreter::predict(int root, const std::vector<int>& wanted) const {
  Pass pass;
  const int oldest = wanted.empty() ? -1 : *std::min_element(wanted.begin(), wanted.end());
  const auto is_wanted = [&](int node) { return std::count(wanted.begin(), wanted.end(), node) > 0; };
  // What leads to the root. A node stands for several of the library's, so those at or below the oldest
  // wanted one are not looked at.
  std::vector<bool> reached(nodes.size()), surely(nodes.size()), leads(nodes.size()), passed(nodes.size()),
      defined(nodes.size());
  reached[sz(root)] = surely[sz(root)] = true;
  for (int i = root; i >= 0; --i) {
    if (!reached[sz(i)] || i <= oldest) continue;
    const TapeNode& node = nodes[sz(i)];
    if (node.freed == TapeNode::Freed::yes) (surely[sz(i)] ? pass.must_fail : pass.may_fail) = true;
    if (node.freed == TapeNode::Freed::maybe) pass.may_fail = true;
    if (node.freed != TapeNode::Freed::yes)
      for (const int input : node.inputs)
        if (input >= 0) {
          reached[sz(input)] = true;
          if (surely[sz(i)] && !node.pass) surely[sz(input)] = true;
        }
  }
  for (int i = 0; i <= root; ++i) {
    if (!reached[sz(i)]) continue;
    if (i > oldest && !nodes[sz(i)].leaf)
      for (const int input : nodes[sz(i)].inputs)
        if (input >= 0 && input >= oldest && leads[sz(input)]) passed[sz(i)] = true;
    if (wanted.empty()) passed[sz(i)] = !nodes[sz(i)].leaf;
    leads[sz(i)] = wanted.empty() || passed[sz(i)] || is_wanted(i);
  }
  if (!leads[sz(root)]) return pass;
  bool fails = false;
  defined[sz(root)] = true;
  for (int i = root; i >= 0; --i) {
    if (!defined[sz(i)]) continue;
    const TapeNode& node = nodes[sz(i)];
    pass.visited.push_back(i);
    if (!passed[sz(i)]) continue;
    pass.passed.push_back(i);
    pass.through_pass |= node.pass;
    const auto needs = [&](int input) { return input >= 0 && reached[sz(input)] && leads[sz(input)]; };
    for (const TapeNode::Read& read : node.reads) {
      if (memories_[sz(read.memory)].version == read.version) continue;
      if (read.needs >= 0 && !needs(node.inputs[sz(read.needs)])) continue;
      (read.maybe ? pass.may_fail : fails) = true;
    }
    for (const int input : node.inputs)
      if (needs(input)) defined[sz(input)] = true;
  }
  if (fails) (pass.through_pass ? pass.may_fail : pass.must_fail) = true;
  return pass;
}

void Interpreter::run(Pass& pass, const std::vector<Scalar>& root, const std::vector<Scalar>& seed) {
  std::unordered_map<int, const TapeNode*> hooked;
  for (const int i : pass.visited)
    if (!nodes[sz(i)].hooks.empty())
      for (const Scalar number : nodes[sz(i)].numbers) hooked[number.id] = &nodes[sz(i)];
  ScalarTape::Seeds seeds;
  for (std::size_t i = 0; i < root.size(); ++i) seeds.push_back({root[i], seed[i]});
  pass.gradients = tape().backward(seeds, [&](Scalar number, Scalar gradient) {
    const auto found = hooked.find(number.id);
    if (found == hooked.end()) return gradient;
    for (const auto& [kind, factor] : found->second->hooks) {
      if (kind == HookKind::scale || kind == HookKind::of_arrays) gradient = gradient * factor;
      if (kind == HookKind::square) gradient = gradient * gradient;
    }
    return gradient;
  });
}

void Interpreter::free(const Pass& pass, int root, const std::vector<int>& wanted) {
  // Without wanted nodes everything that leads to the root, else what the gradient was passed through.
  std::vector<bool> reached(nodes.size());
  if (wanted.empty())
    reached = leads_to(root);
  else
    for (const int i : pass.passed) reached[sz(i)] = true;
  // What a gradient on the tape was made of is not known: perhaps these, perhaps not.
  std::vector<bool> unsure(nodes.size());
  bool gradient_freed = false;
  const auto free_perhaps = [](TapeNode& node) {
    if (node.freed == TapeNode::Freed::no) node.freed = TapeNode::Freed::maybe;
  };
  for (int i = root; i >= 0; --i) {
    TapeNode& node = nodes[sz(i)];
    if (!reached[sz(i)] && !unsure[sz(i)]) continue;
    if (node.pass || unsure[sz(i)])
      for (const int input : node.inputs)
        if (input >= 0) unsure[sz(input)] = true;
    if (node.leaf) continue;
    gradient_freed |= node.pass;
    if (unsure[sz(i)] || (pass.through_pass && !wanted.empty()))
      free_perhaps(node);
    else
      node.freed = TapeNode::Freed::yes;
  }
  // Gradients that one pass returned may share nodes.
  if (gradient_freed)
    for (TapeNode& node : nodes)
      if (node.pass) free_perhaps(node);
}

}  // namespace gradus::test::graphs
