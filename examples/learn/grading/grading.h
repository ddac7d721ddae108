#pragma once
// The building blocks of an exercise's cases (examples/course/NN_name/cases.h):
//
//   struct Answer { Tensor (*norm)(const Tensor& x, double eps); };   // the functions a learner writes
//   #define ANSWER(FROM) {FROM::norm}
//   CASE("the mean of every token is 0", "A hint.") {
//     near("the mean", answer.norm(randn({3, 8}), 1e-5).mean(-1), zeros({3}));
//   }
//
// and its wrong answers (wrong_answers.h), each a namespace, with the cases that it fails:
//
//   MUTANT(eps_outside, "eps is inside the root")
//
// The texts that a learner sees are those of the catalogues of its language (docs/translations.md):
// docs/site/paragraphs.py finds them as arguments of CASE, near, expect, problem and phrase.

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "check_op.h"
#include "gradus/core/profile/watch.h"
#include "learn/learn.h"
#include "learn/program/catalogue.h"

namespace gradus::learn {

/// The texts in the learner's language; empty, which is English, unless the program fills it.
Catalogue& language();
/// A text in the learner's language, in which {0} is the first argument: phrase("{0} is not {1}", 2, 3).
template <class... Args>
std::string phrase(const std::string& source, const Args&... args) {
  return language().phrase(source, args...);
}

/// Something is wrong with the answer: the case fails, and the text is shown, in the learner's language.
void problem(const std::string& words);
void expect(bool fine, const std::string& otherwise);
/// Reports a problem unless shapes are equal and elements differ by at most tolerance (1 + |want|); NaN is
/// near NaN, and each infinity only near itself.
void near(const std::string& what, const Tensor& got, const Tensor& want, double tolerance = 1e-9);
void near(const std::string& what, double got, double want, double tolerance = 1e-9);
void near(const std::string& what, const std::vector<double>& got, const std::vector<double>& want,
          double tolerance = 1e-9);
/// Compares the gradients of an op with central differences (check_op), in f64 with random inputs.
void gradients(const test::Op& op, const std::vector<test::Input>& inputs);
/// The same for a backward: value(x) is y, backward(x, dy) must be dx.
void backward_of(const std::function<Tensor(const Tensor& x)>& value,
                 const std::function<Tensor(const Tensor& x, const Tensor& dy)>& backward,
                 const std::vector<test::Input>& inputs);

/// For the library's own result: inside its scope forbidden ops may be called.
template <class F>
auto by_library(F f) {
  struct Unwatched {
    detail::Watcher* before = detail::watcher;
    Unwatched() { detail::watcher = nullptr; }
    ~Unwatched() { detail::watcher = before; }
  } guard;
  return f();
}

/// Runs a case, in f64 with this seed, and returns its problems; empty: it passes. An answer that calls one
/// of the forbidden ops (names, separated by blanks) fails.
std::vector<std::string> problems_of(const std::function<void()>& run, const std::string& forbidden,
                                     std::uint64_t seed);
/// Whether the case that ran last has seen a wrong value, which its hint is about, before it ended or threw.
bool found_wrong_value();

template <class Answer>
struct CaseFor {
  std::string name, hint;
  void (*run)(const Answer& answer);
};
template <class Answer>
struct MutantFor {
  std::string name;
  Answer answer;
  std::vector<std::string> fails;
};
template <class Answer>
std::vector<CaseFor<Answer>>& cases() {
  static std::vector<CaseFor<Answer>> all;
  return all;
}
template <class Answer>
std::vector<MutantFor<Answer>>& mutants() {
  static std::vector<MutantFor<Answer>> all;
  return all;
}
template <class Answer>
bool add_case(const char* name, const char* hint, void (*run)(const Answer&)) {
  cases<Answer>().push_back({name, hint, run});
  return true;
}
template <class Answer>
bool add_mutant(const char* name, const Answer& answer, const std::vector<std::string>& fails) {
  mutants<Answer>().push_back({name, answer, fails});
  return true;
}

/// Runs a case of a learner's answer in a separate process, and reports its problems to doctest.
void grade(const std::function<void()>& run);
/// The ops that the learner's answer must not call.
extern const char* const kForbidden;

}  // namespace gradus::learn

#define CASE(name, hint) LEARN_CASE(DOCTEST_ANONYMOUS(LEARN_CASE_), name, hint)
#ifdef GRADUS_LEARNER
#define LEARN_CASE(f, name, hint)                       \
  static void f(const Answer& answer);                  \
  DOCTEST_TEST_CASE(name* doctest::description(hint)) { \
    gradus::learn::grade([] { f(Answer ANSWER()); });   \
  }                                                     \
  static void f([[maybe_unused]] const Answer& answer)
#else
#define LEARN_CASE(f, name, hint)                             \
  static void f(const Answer& answer);                        \
  [[maybe_unused]] static const bool DOCTEST_CAT(f, _added) = \
      gradus::learn::add_case<Answer>(name, hint, f);         \
  static void f([[maybe_unused]] const Answer& answer)
#define MUTANT(name, ...)                           \
  [[maybe_unused]] static const bool name##_added = \
      gradus::learn::add_mutant<Answer>(#name, Answer ANSWER(name), {__VA_ARGS__});
#endif

// NOLINTNEXTLINE: the cases of every exercise are written with these names
using gradus::learn::backward_of, gradus::learn::by_library, gradus::learn::expect, gradus::learn::gradients,
    gradus::learn::near, gradus::learn::phrase, gradus::learn::problem;
