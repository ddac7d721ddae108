#include "learn/grading/grading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <regex>
#include <sstream>

namespace gradus::learn {

namespace {

thread_local std::vector<std::string> problems;
thread_local std::uint64_t seed_of_case = 0;
thread_local bool found_value = false;

/// Records which ops run.
class Recorder final : public detail::Watcher {
 public:
  explicit Recorder(const std::string& forbidden) {
    std::istringstream words(forbidden);
    for (std::string word; words >> word;) forbidden_.push_back(word);
    detail::watcher = this;
  }
  ~Recorder() { detail::watcher = nullptr; }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void op_ends(const char* op, const Array&, std::span<const Tensor* const>) override {
    const auto add = [](std::vector<std::string>& names, const char* name) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    };
    if (std::find(forbidden_.begin(), forbidden_.end(), op) != forbidden_.end()) add(called_, op);
  }
  void backward_ends(const char*, const char*, const Array&, std::span<const Gradient>) override {}
  void end_lap() override {}
  void begin_range(const char*, const char*) override {}
  void end_range() override {}
  void add_work(double, double) override {}

  const std::vector<std::string>& called() const { return called_; }

 private:
  std::vector<std::string> forbidden_, called_;
};

/// "[1][2]": the index of an element in a tensor.
std::string place(const Shape& shape, std::int64_t element) {
  std::string text;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    text = fmt::format("[{}]", element % shape[axis]) + text;
    element /= shape[axis];
  }
  return text;
}

bool is_near(double got, double want, double tolerance) {
  return got == want || (std::isnan(got) && std::isnan(want)) ||
         (std::isfinite(want) && std::abs(got - want) <= tolerance * (1 + std::abs(want)));
}

void differs(const std::string& what, const std::string& where, double got, double want) {
  std::string is, is_not;  // six digits, or more if the two numbers would look equal
  for (int digits = 6; digits <= 17 && is == is_not; ++digits)
    is = fmt::format("{:.{}g}", got, digits), is_not = fmt::format("{:.{}g}", want, digits);
  problem(phrase("{0}{1} is {2}, not {3}", language()(what), where, is, is_not));
}

void compare(const std::string& what, const Shape& shape, const std::vector<double>& got,
             const std::vector<double>& want, double tolerance) {
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!is_near(got[i], want[i], tolerance))
      return differs(what, place(shape, static_cast<std::int64_t>(i)), got[i], want[i]);
}

/// What check_op says of a derivative, in the learner's language; anything else as it is.
std::string translated(const std::string& problem) {
  static const std::regex derivative(
      "gradient of input ([0-9]+) along (?:element ([0-9]+)|a direction): (.*), but the outputs change by "
      "(.*)");
  std::smatch part;
  if (!std::regex_match(problem, part, derivative)) return problem;
  const std::string input = part[1], element = part[2], got = part[3], want = part[4];
  if (element.empty())
    return phrase("gradient of input {0} along a direction: {1}, but the outputs change by {2}", input, got,
                  want);
  return phrase("gradient of input {0} along element {1}: {2}, but the outputs change by {3}", input, element,
                got, want);
}

/// What may be the cause if the library throws this in an answer; "" if nothing is likely.
std::string likely_cause(const std::string& thrown) {
  const auto says = [&](const char* words) { return thrown.find(words) != std::string::npos; };
  static const std::regex shapes("([a-z]+): shapes \\[(.*)\\] and \\[(.*)\\] do not broadcast.*");
  if (std::smatch part; std::regex_match(thrown, part, shapes)) {
    const std::string op = part[1], a = part[2], b = part[3];
    const auto axes = [](const std::string& shape) { return std::count(shape.begin(), shape.end(), ','); };
    if (axes(a) != axes(b))
      return phrase("x.mean(-1) and x.sum(-1) drop the axis; x.mean(-1, true) keeps it");
    if (op == "mul" && axes(a) > 0)
      return phrase("a * b multiplies elements; the product of matrices is matmul(a, b)");
  }
  if (says("a grad() is undefined before backward"))
    return phrase(
        "so is that of a tensor that is no leaf, such as a after a = a - ...: write into the leaf, a -= ..., "
        "under NoGrad");
  if (says("an in-place write is not recorded"))
    return phrase(
        "y += ... writes into y and into every other handle of the same numbers, such as x after Tensor y = "
        "x: y = y + ... makes a new tensor");
  return "";
}

}  // namespace

Catalogue& language() {
  static Catalogue words;
  return words;
}

void problem(const std::string& words) { problems.push_back(language()(words)); }

void expect(bool fine, const std::string& otherwise) {
  if (!fine) problem(otherwise);
}

void near(const std::string& what, double got, double want, double tolerance) {
  if (!is_near(got, want, tolerance)) differs(what, "", got, want);
}

void near(const std::string& what, const Tensor& got, const Tensor& want, double tolerance) {
  if (!got.defined()) return problem(phrase("{0} is an undefined tensor", language()(what)));
  if (got.shape() != want.shape())
    return problem(phrase("{0} has shape {1}, not {2}", language()(what), to_string(got.shape()),
                          to_string(want.shape())));
  compare(what, want.shape(), got.to_vector<double>(), want.to_vector<double>(), tolerance);
}

void near(const std::string& what, const std::vector<double>& got, const std::vector<double>& want,
          double tolerance) {
  if (got.size() != want.size())
    return problem(phrase("{0} has {1} elements, not {2}", language()(what), got.size(), want.size()));
  compare(what, {static_cast<std::int64_t>(want.size())}, got, want, tolerance);
}

void gradients(const test::Op& op, const std::vector<test::Input>& inputs) {
  const test::CheckOptions options = {.gradients_only = true, .seed = seed_of_case};
  for (const std::string& words : test::op_problems("the gradient", op, inputs, options))
    problem(translated(words.substr(words.find(": ") + 2)));  // after the name and "f64"
}

void backward_of(const std::function<Tensor(const Tensor&)>& value,
                 const std::function<Tensor(const Tensor&, const Tensor&)>& backward,
                 const std::vector<test::Input>& inputs) {
  gradients(
      [&](const Tensor& x) {
        return record(
            "answer", value(x.detach()).array(), {&x}, [&, x = x.array()](const Array& dy, Needs) -> Grads {
              const Tensor dx = backward(Tensor(x), Tensor(dy));
              if (!dx.defined() || dx.shape() != x.shape())
                throw Error(phrase("the gradient has shape {0}, x has {1}",
                                   dx.defined() ? to_string(dx.shape()) : "none", to_string(x.shape())));
              return {dx.array()};
            });
      },
      inputs);
}

std::vector<std::string> problems_of(const std::function<void()>& run, const std::string& forbidden,
                                     std::uint64_t seed) {
  problems.clear();
  found_value = false;
  seed_of_case = seed;
  manual_seed(seed);
  const DefaultDType guard(f64);
  const Recorder recorder(forbidden);
  const auto values = [] { found_value = !problems.empty(); };
  try {
    run();
    values();
  } catch (const NotWritten&) {
    return {phrase("not written yet: put your code in the place of todo(...)")};
  } catch (const std::exception& error) {
    values();
    problem(phrase("it throws: {0}", error.what()));
    if (const std::string cause = likely_cause(error.what()); !cause.empty()) problem(cause);
  } catch (...) {
    values();
    problem(phrase("it throws something that is no std::exception"));
  }
  for (const std::string& op : recorder.called())
    problem(phrase("the library's {0} has run: here it is yours to write", op));
  return std::move(problems);
}

bool found_wrong_value() { return found_value; }

}  // namespace gradus::learn
