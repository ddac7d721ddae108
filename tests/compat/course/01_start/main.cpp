// A self-test of the course's prerequisites, and a first claim put to the test.
// Its chapter: docs/course/01_start/README.md
//   ./run example 01              the questions with their answers, which gradus computes
//   ./run example 01 12 2 ...     grades your nine answers

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

struct Question {
  const char* ask;
  double answer;
  const char* look_up;  // where to read if the answer was wrong
};

// [derivative]
/// The slope of f at x, by the tape of chapter 4.
double derivative(const std::function<Tensor(const Tensor&)>& f, double at) {
  Tensor x = tensor(at).requires_grad_();
  f(x).backward();
  return x.grad().item();
}
// [/derivative]

/// What the two questions about C++ print.
int sum_of_squares() {
  // [loop]
  int total = 0;
  for (int i = 0; i < 4; ++i) total += i * i;
  return total;
  // [/loop]
}

int captured() {
  // [lambda]
  int n = 1;
  const auto f = [n] { return n; };
  n = 5;
  return f() + n;
  // [/lambda]
}

std::vector<Question> questions() {
  // [answers]
  const Tensor a = tensor({{1.0, 2.0}, {3.0, 4.0}}), b = tensor({{5.0}, {6.0}});
  const Tensor numbers = tensor({1.0, 2.0, 3.0, 6.0});
  const auto cube = [](const Tensor& x) { return x * x * x; };
  const auto chain = [](const Tensor& x) { return exp(2 * x); };
  const auto partial = [](const Tensor& x) { return x * x * 2; };  // a^2 b with b = 2
  // [/answers]
  const char* calculus = "derivatives and the chain rule: Mathematics for Machine Learning, chapter 5";
  const char* algebra = "products of matrices: the same book, section 2.2";
  const char* chance = "mean, variance, independence: the same book, chapter 6";
  const char* cpp = "a C++ book on loops and lambda expressions";
  return {{"The derivative of x^3 at x = 2", derivative(cube, 2), calculus},
          {"The derivative of exp(2x) at x = 0", derivative(chain, 0), calculus},
          {"The derivative of a^2 b with respect to a, at a = 3, b = 2", derivative(partial, 3), calculus},
          {"The last entry of [[1, 2], [3, 4]] times the column [5, 6]", matmul(a, b)[1][0].item(), algebra},
          {"The variance of 1, 2, 3, 6 (divided by 4)", numbers.var({}, {.unbiased = false}).item(), chance},
          {"The variance of a sum of 4 independent numbers of variance 1", 4, chance},
          {"-log(1/8), the natural logarithm", -std::log(1.0 / 8), "logarithms: log(1/8) = -3 log 2"},
          {"What the first piece of C++ on the page returns", double(sum_of_squares()), cpp},
          {"What the second one returns", double(captured()), cpp}};
}

/// An answer is right if it differs by less than one percent. Returns the number of right answers.
int grade(const std::vector<Question>& all, char** answers) {
  int right = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    char* end = nullptr;
    const double given = std::strtod(answers[i], &end);
    const bool ok = end != answers[i] && std::abs(given - all[i].answer) <= 0.01 * std::abs(all[i].answer);
    right += ok;
    std::printf("%zu  %-62s %s\n", i + 1, all[i].ask, ok ? "right" : "not yet");
    if (!ok) std::printf("      look up %s\n", all[i].look_up);
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const DefaultDType guard(f64);
  const std::vector<Question> all = questions();
  if (argc > 1 && argc != 1 + int(all.size())) {
    std::fprintf(stderr, "give %zu answers, numbers separated by spaces\n", all.size());
    return 2;
  }
  if (argc > 1) {
    std::printf("%d of %zu right\n", grade(all, argv + 1), all.size());
    return 0;
  }
  std::printf("Self-test:\n");
  for (std::size_t i = 0; i < all.size(); ++i)
    std::printf("%zu  %-62s %7.3f\n", i + 1, all[i].ask, all[i].answer);

  manual_seed(0);
  // [sentence]
  const Tensor x = randn({5, 16});                    // five random tokens of 16 channels
  const Tensor length = layer_norm(x).norm(2, {-1});  // the length of each after layer norm
  // [/sentence]
  std::printf(
      "\nA sentence tested: \"layer norm projects a token onto the unit sphere\".\n"
      "The lengths of five tokens of 16 channels after it: %.2f to %.2f. Not 1: it is sqrt(16).\n",
      length.min().item(), length.max().item());
}
