#include "learn/program/remedies.h"

#include <utility>
#include <vector>

namespace gradus::learn {

namespace {

/// Holds for a message that contains all these parts.
struct Rule {
  std::vector<const char*> parts;
  std::string text;
};

/// Names that are missing, or not what they are taken for.
std::vector<Rule> rules_of_names(const Catalogue& words) {
  const std::string ours = words.phrase(
      "Is the name spelt right? ops/ops.h lists the ops; methods are called as x.mean(-1, true).");
  const std::string standard =
      words.phrase("Names of the standard library begin with std:: as in std::cout and std::vector.");
  const std::string call = words.phrase("A method is called with parentheses: x.sum(), x.shape()[0].");
  std::vector<Rule> rules;
  for (const char* name : {"'cout'", "'endl'", "'vector'", "'pair'", "'string'", "'map'", "'function'"})
    for (const char* missing : {"was not declared", "undeclared identifier"})
      rules.push_back({{name, missing}, standard});
  const std::string unnamed = words.phrase("Arguments have no names: x.sum(-1, true) keeps the axis.");
  rules.insert(rules.end(), {{{"'keepdim'"}, unnamed},
                             {{"was not declared"}, ours},
                             {{"undeclared identifier"}, ours},
                             {{"unresolved overloaded function type"}, call},
                             {{"cannot resolve overloaded function"}, call},
                             {{"cannot convert 'gradus::Tensor::", "from type"}, call},
                             {{"reference to non-static member function must be called"}, call}});
  return rules;
}

/// Calls that are deleted on purpose, each with the form that works.
std::vector<Rule> rules_of_deleted(const Catalogue& words) {
  const std::string condition = words.phrase(
      "A Tensor is no bool: combine conditions with | and &, and take the value of a single element with "
      "item().");
  const std::string whole = words.phrase(
      "A size or an index is a whole number: item<std::int64_t>() of a tensor, "
      "static_cast<std::int64_t>(x) of a double.");
  const std::string options = words.phrase(
      "Options are in braces, with their names: cross_entropy(logits, target, "
      "{{.reduction = Reduction::sum}}).");
  const std::string inputs = words.phrase("The inputs are a list, in braces: grad(y, {{w}})[0].");
  const std::string named = words.phrase(
      "The inputs are a list, in braces, and options have names: grad(y, {{w}}, {{.create_graph = "
      "true}})[0].");
  const std::string tensors =
      words.phrase("Tensors to be joined are a list, in braces: cat({{a, b}}, axis).");
  const std::string form = words.phrase(
      "This form of the call is refused on purpose: core/tensor.h and ops/ops.h show how to call "
      "it. Sizes and axes are in braces: x.view({{2, 3}}).");
  return {{{"deleted function", "operator bool"}, condition},
          {{"attempt to use a deleted function"}, condition},  // Clang's words for it
          {{"deleted function", "gradus::Int"}, whole},
          {{"deleted function", "gradus::grad(", "std::vector<Tensor>&, T)"}, named},
          {{"deleted function", "gradus::grad("}, inputs},
          {{"deleted function 'grad'"}, named},  // Clang does not say which of the two
          {{"deleted function", "Reduction]"}, options},
          {{"deleted function 'cross_entropy'"}, options},
          {{"deleted function", "gradus::cat("}, tensors},
          {{"deleted function", "gradus::stack("}, tensors},
          {{"deleted function 'cat'"}, tensors},
          {{"deleted function 'stack'"}, tensors},
          {{"deleted function"}, form},
          {{"deleted member function"}, form}};
}

/// Types that do not go together.
std::vector<Rule> rules_of_types(const Catalogue& words) {
  const std::string power =
      words.phrase("C++ has no operator for powers: x.square() or pow(x, 3), and std::pow(a, 3) of numbers.");
  const std::string own = words.phrase(
      "It is const: make a copy of your own and change that, auto y = x.clone() of a tensor, auto y = x of "
      "anything else. New values are written into a tensor by x.copy_(y).");
  const std::string shape = words.phrase("A Shape is read by index: x.size(0) is the size of axis 0.");
  const std::string loop = words.phrase("A std::vector has no arithmetic: write a loop over its elements.");
  const std::string whole = words.phrase(
      "A size or an index is a whole number: item<std::int64_t>() of a tensor, "
      "static_cast<std::int64_t>(x) of a double.");
  const std::string mask = words.phrase("The opposite of a mask is !mask.");
  const std::string braces = words.phrase("Two values are returned in braces: return {{a, b}};");
  const std::string index = words.phrase("Is it a function? An element of a tensor is x[i].");
  const std::string combined =
      words.phrase("These two types cannot be combined: tensor(2.0) makes a tensor from a number.");
  const std::string pair =
      words.phrase("It is a pair: .first is its first value, and .second its second one.");
  const std::string differ = words.phrase(
      "The types differ: item() makes a number from a tensor, tensor(2.0) a tensor from a number.");
  const std::string order = words.phrase(
      "The arguments come in another order: core/creation.h and ops/ops.h have the declarations.");
  return {{{"no match for", "operator^"}, power},
          {{"invalid type argument of unary '*'"}, power},
          {{"indirection requires pointer operand"}, power},
          {{"no match for", "operator=", "(operand types are 'const "}, own},
          {{"assignment of read-only"}, own},
          {{"discards qualifiers"}, own},
          {{"returns a const value"}, own},
          {{"cannot decompose"}, shape},
          {{"no match for", "gradus::Shape"}, shape},
          {{"no match for 'operator[]'", "std::vector<", "gradus::Tensor'"}, whole},
          {{"no viable overloaded operator[] for type", "std::vector<"}, whole},
          {{"no match for 'operator~'"}, mask},
          {{"invalid argument type", "gradus::Tensor' to unary expression"}, mask},
          {{"no match for", "operand types", "std::vector<"}, loop},
          {{"no match for call to"}, index},
          {{"does not provide a call operator"}, index},
          {{"no match for"}, combined},
          {{"invalid operands to binary expression", "gradus::Shape"}, shape},
          {{"invalid operands to binary expression", "std::vector<"}, loop},
          {{"invalid operands to binary expression"}, combined},
          {{"from 'gradus::DType'"}, order},
          {{"conversion from 'std::pair<"}, pair},
          {{"cannot convert 'std::pair<"}, pair},
          {{"could not convert", "from 'std::pair<"}, pair},
          {{"could not convert", "to 'std::pair<"}, braces},
          {{"no viable conversion", "to function return type 'std::pair<"}, braces},
          {{"could not convert"}, differ},
          {{"cannot convert"}, differ},
          {{"no viable conversion"}, differ}};
}

/// Functions of std:: that are called with a Tensor.
std::vector<Rule> rules_of_std(const Catalogue& words) {
  const std::string numbers = words.phrase(
      "Functions of std:: take numbers. For a tensor write x.sqrt(), x.exp(), x.log(), x.square(); ops/ops.h "
      "lists the other ops.");
  std::vector<Rule> rules = {{{"no matching function", "'pow(const gradus::Tensor"}, numbers},
                             {{"no matching function", "'pow(gradus::Tensor"}, numbers}};
  using Quoted = std::pair<const char*, const char*>;  // by GCC, which names the arguments, and by Clang
  for (const auto& [gcc, clang] : {Quoted{"'sqrt(", "'sqrt'"},
                                   {"'exp(", "'exp'"},
                                   {"'log(", "'log'"},
                                   {"'abs(", "'abs'"},
                                   {"'tanh(", "'tanh'"},
                                   {"'sin(", "'sin'"},
                                   {"'cos(", "'cos'"},
                                   {"'max(", "'max'"},
                                   {"'min(", "'min'"}}) {
    rules.push_back({{"no matching function", gcc, "gradus::Tensor"}, numbers});
    rules.push_back({{"no matching function", clang}, numbers});
  }
  return rules;
}

/// All others.
std::vector<Rule> other_rules(const Catalogue& words) {
  const std::string captured = words.phrase(
      "A lambda takes in what stands between its brackets: write [=] for copies or [&] for references.");
  const std::string inside = words.phrase(
      "A function cannot be defined inside another: use a lambda, or write it above. If it is inside none, a "
      "brace before it is not closed.");
  const std::string brace =
      words.phrase("A brace is not closed, or the file ends in the middle of a statement.");
  const std::string semicolon =
      words.phrase("A semicolon is missing at the end of this line or the previous one.");
  const std::string one = words.phrase(
      "push_back takes one value, of the type that is in std::vector<...>: item() makes a number from a "
      "tensor.");
  const std::string exponent = words.phrase(
      "pow(x, p) takes a Tensor x and a number p. A number a to the power of a tensor is "
      "exp(x * std::log(a)).");
  const std::string member = words.phrase(
      "Is the name spelt right? core/tensor.h lists the methods of a Tensor; other ops are functions: "
      "masked_fill(x, mask, value).");
  const std::string arguments = words.phrase(
      "The function takes different arguments: ops/ops.h has its declaration, core/tensor.h that of a "
      "method.");
  const std::string twice = words.phrase("It is defined twice.");
  return {{{"is not captured"}, captured},
          {{"cannot be implicitly captured"}, captured},
          {{"function-definition is not allowed here"}, inside},
          {{"function definition is not allowed here"}, inside},
          {{kUnclosed}, brace},
          {{"no member named"}, member},
          {{"is not a member of"}, words.phrase("Is the name spelt right? ops/ops.h lists the ops.")},
          {{"or ';'"}, semicolon},
          {{"expected ';'"}, semicolon},
          {{"expected '}'"}, brace},
          {{"no matching", "push_back"}, one},
          {{"no matching function", "'pow(double"}, exponent},
          {{"no matching function"}, arguments},
          {{"no matching member function"}, arguments},
          {{"too few arguments"}, arguments},
          {{"too many arguments"}, arguments},
          {{"no return statement"}, words.phrase("The function ends without a return.")},
          {{"redefinition"}, twice},
          {{kDefinedTwice}, twice}};
}

}  // namespace

std::string remedy(const std::string& error, const Catalogue& words) {
  for (const std::vector<Rule>& rules : {rules_of_names(words), rules_of_deleted(words),
                                         rules_of_types(words), rules_of_std(words), other_rules(words)})
    for (const Rule& rule : rules) {
      bool holds = true;
      for (const char* part : rule.parts) holds = holds && error.find(part) != std::string::npos;
      if (holds) return rule.text;
    }
  return "";
}

}  // namespace gradus::learn
