// What is typed: einsum's equations, command lines.

#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include "gradus/kit/program/command_line.h"
#include "gradus/ops/ops.h"
#include "reliability/reader_lists.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::string>;

/// Operands that fit the equation as far as it is one: each letter has its own size, "..." is [2, 1].
std::vector<Tensor> operands_for(const std::string& equation) {
  std::vector<Tensor> operands;
  std::vector<std::int64_t> sizes;
  const std::string left = equation.substr(0, equation.find("->")) + ",";
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] == ',') {
      operands.push_back(ones(Shape(sizes)));
      sizes.clear();
    } else if (left.compare(i, 3, "...") == 0) {
      sizes.insert(sizes.end(), {2, 1});
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(left[i]))) {
      sizes.push_back(1 + left[i] % 3);
    }
  }
  return operands;
}

void use_equation(const std::string& equation) {
  if (equation.size() > 24) return;  // the result may have the sizes of all letters
  std::vector<Tensor> operands = operands_for(equation);
  for (Tensor& x : operands) x.requires_grad_(true);
  const Tensor y = einsum(equation, operands);
  y.sum().backward();
  for (const Tensor& x : operands) promise(x.grad().shape() == x.shape(), "a gradient has another shape");
}

/// A program with an option of each kind. Arguments end with a line.
void use_arguments(const std::string& bytes) {
  bool flag = false;
  std::int64_t count = 3;
  double rate = 0.1;
  std::string text, word = "a";
  fs::path path;
  std::vector<std::string> words;
  std::vector<std::int64_t> depths = {1};
  std::vector<double> rates;
  kit::CommandLine line("program", "Does something.");
  line.flag("--flag", flag, "A flag");
  line.integer("--count", count, "A number", kit::at_least(1));
  line.real("--rate", rate, "A rate", kit::above(0));
  line.text("--text", text, "A text");
  line.path("--path", path, "A path");
  line.choice("--word", word, {"a", "b"}, "A word");
  line.list("--depths", depths, "Numbers", {0, 100});
  line.list("--rates", rates, "Rates", kit::between(0, 1));
  line.choices("CASE", words, {"x", "y"}, "Cases");
  std::vector<std::string> arguments = {"program"};
  for (std::size_t start = 0; start < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', start), bytes.size());
    arguments.push_back(bytes.substr(start, end - start));
    start = end + 1;
  }
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  const auto status = line.parse(static_cast<int>(pointers.size()), pointers.data());
  promise(!status || *status == 0 || *status == 2, "another exit status");
  if (!status) promise(count >= 1 && rate > 0 && (word == "a" || word == "b"), "a value is out of its range");
  if (!status)
    for (const std::int64_t depth : depths)
      promise(depth >= 0 && depth <= 100, "a list has a value out of its range");
}

}  // namespace

std::vector<Reader> readers_of_words() {
  return {
      {"einsum", "equation",
       [](const fs::path&) {
         return Seeds{"bqd,bkd->bqk", "ii", "ij->", "...ij,...jk->...ik", "a,b,c->cab", "ij , jk"};
       },
       [](const fs::path& folder) { use_equation(bytes_of(folder / "equation")); }, 256 << 20, 0},
      {"command_line", "arguments",
       [](const fs::path&) {
         return Seeds{"--flag\n--count\n5\n--rate=1e-3\nx\ny",
                      "--depths\n1,2,3\n--rates=0,0.5\n--text\n\xff\n--path=a/b", "--help",
                      "--word\nb\n--\nx"};
       },
       [](const fs::path& folder) { use_arguments(bytes_of(folder / "arguments")); }, 4 << 20, 2000},
  };
}

}  // namespace gradus::test
