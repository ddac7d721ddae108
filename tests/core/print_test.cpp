#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "gradus/core/tensor.h"
#include "gradus/ops/ops.h"
#include "support.h"

using namespace gradus;

namespace {

struct Case {
  std::string title, text;
  Tensor tensor;
};

DType dtype_named(const std::string& text) {
  for (const DType dtype : {f32, f64, i64, boolean})
    if (text == name(dtype)) return dtype;
  FAIL("unknown dtype " << text);
  return f32;
}

/// "f32 (2 3) FLAGS: VALUES", see print_cases.py.
Tensor parse(const std::string& title) {
  const std::size_t open = title.find('('), close = title.find(')'), colon = title.find(':');
  const DType dtype = dtype_named(title.substr(0, open - 1));
  Shape shape;
  std::istringstream sizes(title.substr(open + 1, close - open - 1)), words(title.substr(colon + 1));
  for (std::int64_t size; sizes >> size;) shape.push_back(size);
  std::vector<std::string> values;
  for (std::string word; words >> word;) values.push_back(word);

  const auto count = static_cast<std::size_t>(numel(shape));
  std::vector<double> numbers(count);
  std::vector<std::int64_t> integers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& value = values[i % values.size()];
    if (is_floating(dtype))
      numbers[i] = std::stod(value);
    else
      integers[i] = std::stoll(value);
  }
  const Tensor all = is_floating(dtype) ? from_vector(numbers, shape) : from_vector(integers, shape);
  Tensor x = to(all, dtype);
  if (title.find("requires_grad") != std::string::npos) x.requires_grad_();
  return x;
}

std::vector<Case> golden_cases() {
  std::ifstream file(test::source_file("tests/golden/print.txt"));
  std::vector<Case> cases;
  for (std::string title, line; std::getline(file, title);) {
    std::string text;
    while (std::getline(file, line) && line != std::string(20, '-'))
      text += (text.empty() ? "" : "\n") + line;
    cases.push_back({title, text, parse(title)});
  }
  return cases;
}

}  // namespace

TEST_CASE("tensors print as in PyTorch 1.13") {
  const std::vector<Case> cases = golden_cases();
  REQUIRE(cases.size() > 70);
  for (const Case& c : cases) {
    CAPTURE(c.title.substr(0, 80));
    CHECK(to_string(c.tensor) == c.text);
  }
}

TEST_CASE("the op that made a tensor is named") {
  Tensor x = tensor({1.0, 2.0});
  x.requires_grad_();
  CHECK(to_string(reshape(x, {2, 1})) == "tensor([[1.],\n        [2.]], grad_fn=<reshape>)");
  CHECK(to_string(to(x, f64)) == "tensor([1., 2.], dtype=f64, grad_fn=<to>)");
  x.requires_grad_(false);
  CHECK(to_string(x) == "tensor([1., 2.])");
}

TEST_CASE("the default dtype is not mentioned") {
  const Tensor single = zeros({1}, f32), twice = zeros({1}, f64);
  const DefaultDType guard(f64);
  CHECK(to_string(single) == "tensor([0.], dtype=f32)");
  CHECK(to_string(twice) == "tensor([0.])");
}

TEST_CASE("a dtype that does not fit into the line has one of its own") {
  const std::string halves = "tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000";
  CHECK(to_string(full({7}, 0.5, f64)) == halves + "], dtype=f64)");
  CHECK(to_string(full({8}, 0.5, f64)) == halves + ", 0.5000],\n       dtype=f64)");
}

TEST_CASE("views print their elements") {
  const Tensor x = reshape(arange(6), {2, 3});
  CHECK(to_string(transpose(x, 0, 1)) == "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])");
  CHECK(to_string(slice(x, 1, 0, {}, 2)) == "tensor([[0, 2],\n        [3, 5]])");
  // Summarized without reading elements that are not shown: this one has 10^12 elements, where addresses have
  // 64 bits.
  const std::int64_t columns = sizeof(void*) == 8 ? 1000000 : 200;
  CHECK(to_string(expand(tensor(1.5), {1000000, columns})).size() < 600);
}

TEST_CASE("arrays and streams") {
  CHECK(to_string(Array::zeros({2}, i64)) == "array([0, 0])");
  CHECK(to_string(Tensor()) == "tensor(undefined)");
  CHECK(to_string(Array()) == "array(undefined)");
  std::ostringstream out;
  out << tensor({true, false}) << '!';
  CHECK(out.str() == "tensor([ True, False])!");
  out.str("");
  out << zeros({2, 3}).shape();
  CHECK(out.str() == "[2, 3]");
}

TEST_CASE("NaN is printed without its sign") {
  CHECK(to_string(tensor({-NAN, NAN, -INFINITY})) == "tensor([nan, nan, -inf])");
  CHECK(to_string(sqrt(tensor({-1.0, 4.0}))) == "tensor([nan, 2.])");
}
