#pragma once
// What the rows of docs/from_pytorch.md give, told as PyTorch tells it: the text of tensor(...), on one line
// and without the dtype.

#include <doctest/doctest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/dtype.h"
#include "gradus/core/shape.h"
#include "gradus/core/tensor.h"

namespace docs {

inline std::string told(const gradus::Tensor& x) {
  std::string text = gradus::to_string(x).substr(7);  // tensor(
  text = text.substr(0, text.rfind(')'));
  for (const char* note : {", dtype=", ", requires_grad=", ", grad_fn="})
    text = text.substr(0, text.find(note));
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) line += (line.empty() || line.back() == '[' ? "" : " ") + word;
  return line;
}
inline std::string told(const std::pair<gradus::Tensor, gradus::Tensor>& xs) {
  return told(xs.first) + " and " + told(xs.second);
}
inline std::string told(const std::vector<gradus::Tensor>& xs) {
  std::string line;
  for (const auto& x : xs) line += (line.empty() ? "" : " and ") + told(x);
  return line;
}
inline std::string told(const gradus::Shape& shape) { return to_string(shape); }
inline std::string told(gradus::DType dtype) { return name(dtype); }
inline std::string told(bool value) { return value ? "True" : "False"; }
inline std::string told(int value) { return std::to_string(value); }
inline std::string told(std::int64_t value) { return std::to_string(value); }
inline std::string told(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}
inline std::string told(const std::vector<float>& values) {
  std::string line;
  for (const float value : values) line += (line.empty() ? "" : ", ") + told(static_cast<double>(value));
  return "[" + line + "]";
}

template <class T>
void gives(const T& value, const std::string& expected) {
  CHECK(told(value) == expected);
}

}  // namespace docs
