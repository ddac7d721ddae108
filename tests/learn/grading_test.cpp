// What counts as a right number in an exercise.
#include "learn/grading/grading.h"

#include <cmath>
#include <fstream>

#include "support.h"

namespace gradus::learn {

TEST_CASE("grading: a number is near one within the tolerance, NaN near NaN, an infinity near itself") {
  const auto right = [](double got, double want) {
    return problems_of([=] { near("it", got, want, 1e-3); }, "", 1).empty();
  };
  CHECK(right(1.0015, 1));
  CHECK_FALSE(right(1.0025, 1));
  CHECK(right(NAN, NAN));
  CHECK_FALSE(right(1, NAN));
  CHECK_FALSE(right(NAN, 1));
  CHECK(right(INFINITY, INFINITY));
  CHECK_FALSE(right(1, INFINITY));
  CHECK_FALSE(right(-INFINITY, INFINITY));
  CHECK_FALSE(right(INFINITY, 1));
}

TEST_CASE("grading: what is wrong is said in the learner's language, with the numbers as they are") {
  const test::ScratchFolder folder;
  std::ofstream(folder / "pt.po") << R"po(msgid "the mean"
msgstr "a média"

msgid "the step goes up"
msgstr "o passo sobe"

msgid "{0}{1} is {2}, not {3}"
msgstr "{0}{1} é {2}, e não {3}"

msgid "{0} has shape {1}, not {2}"
msgstr "{0} tem a forma {1}, e não {2}"

msgid "not written yet: put your code in the place of todo(...)"
msgstr "ainda não escrito"

msgid "gradient of input {0} along element {1}: {2}, but the outputs change by {3}"
msgstr "gradiente da entrada {0}, elemento {1}: {2}, mas {3}"
)po";
  struct Portuguese {
    explicit Portuguese(const std::filesystem::path& file) { language().add(file); }
    ~Portuguese() { language() = Catalogue(); }
  };
  const auto said = [](const std::function<void()>& run) { return problems_of(run, "", 1); };
  const auto one = [](const std::string& text) { return std::vector<std::string>{text}; };
  CHECK(said([] { near("the mean", 1.5, 2); }) == one("the mean is 1.5, not 2"));
  {
    const Portuguese words(folder / "pt.po");
    CHECK(said([] { near("the mean", 1.5, 2); }) == one("a média é 1.5, e não 2"));
    CHECK(said([] { near("x", tensor({1.0, 2.0}), tensor({1.0, 3.0})); }) == one("x[1] é 2, e não 3"));
    CHECK(said([] { near("the mean", zeros({2}), zeros({3})); }) ==
          one("a média tem a forma [2], e não [3]"));
    CHECK(said([] { expect(false, "the step goes up"); }) == one("o passo sobe"));
    CHECK(said([] { expect(false, "no translation"); }) == one("no translation"));
    CHECK(said([] { const Tensor y = todo(1); }) == one("ainda não escrito"));
    const auto wrong = said([] {
      backward_of([](const Tensor& x) { return x * 2; }, [](const Tensor&, const Tensor& dy) { return dy; },
                  {{2}});
    });
    REQUIRE_FALSE(wrong.empty());
    CHECK(wrong[0].starts_with("gradiente da entrada 0, elemento 0: "));
  }
  CHECK(said([] { near("the mean", 1.5, 2); }) == one("the mean is 1.5, not 2"));
  CHECK(said([] { near("the mean", 1, 1.0000001); }) == one("the mean is 1, not 1.0000001"));
}

TEST_CASE("grading: the likely cause of what is thrown follows it") {
  const auto second = [](const std::function<void()>& run) {
    const std::vector<std::string> said = problems_of(run, "", 1);
    return said.size() == 2 ? said[1] : "";
  };
  const Tensor x = ones({2, 3});
  CHECK(second([&] { const Tensor y = x * x.t(); }).find("matmul(a, b)") != std::string::npos);
  CHECK(second([&] { const Tensor y = x - x.mean(-1); }).find("x.mean(-1, true)") != std::string::npos);
  CHECK(second([&] {
          const Tensor a = ones({2}).requires_grad_() * 2;
          const Tensor y = a * a.grad();
        }).find("no leaf") != std::string::npos);
  CHECK(second([&] {
          Tensor y = ones({2}).requires_grad_();
          y += ones({2});
        }).find("y = y + ...") != std::string::npos);
  CHECK(second([] { throw Error("something else"); }).empty());
}

}  // namespace gradus::learn
