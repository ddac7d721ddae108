#include "learn/program/forbidden.h"

#include <doctest/doctest.h>

#include "learn/grading/grading.h"
#include "learn/program/grade_answer.h"
#include "support.h"

#include "gradus/nn/nn.h"

namespace gradus::learn {

namespace {
std::vector<std::string> found(const std::string& code) {
  Exercise exercise;
  exercise.forbidden = {"layer_norm", "var", "std"};
  return forbidden_in(code, exercise);
}
}  // namespace

TEST_CASE("forbidden: comments and strings are not code, lines stay") {
  CHECK(without_comments("a // b\nc /* d\n e */ f \"g // h\" i") == "a \nc  \n f \"\" i");
  CHECK(without_comments("'\"' + \"\\\"x\" + 1'000") == "'' + \"\" + 1'000");
  CHECK(without_comments("/* never closed") == " ");
}

TEST_CASE("forbidden: names are found where they are called") {
  CHECK(found("#include \"learn/learn.h\"\n#include <cmath>\nstd::vector<int> v;  // layer_norm(x)").empty());
  CHECK(found("const Tensor var = x;\nreturn x / (var + 1).sqrt();").empty());
  CHECK(found("x\n = layer_norm (x);") ==
        std::vector<std::string>{"line 2: layer_norm is yours to write here"});
  CHECK(found("auto f = gradus::layer_norm;").size() == 1);
  CHECK(found("x.var(-1)").size() == 1);
  CHECK(found("x.std(-1) + std::sqrt(2)").size() == 1);
  CHECK(found("nn::LayerNorm norm(8);").size() == 1);
  CHECK(found("#define NORM layer_ ## norm").size() == 1);
  CHECK(found("#include \"gradus/nn/nn.h\"").size() == 1);
  CHECK(found("#include <gradus/nn/nn.h>").size() == 1);
  CHECK(found("detail::watcher = nullptr;").size() == 2);
}

TEST_CASE("forbidden: who is to write a backward may not ask the tape for it, and the stub says so") {
  int backwards = 0;
  for (const Exercise& one : exercises(test::source_file("learn"))) {
    CAPTURE(one.name);
    const std::string stub = text_of(one.folder / "stub.h");
    for (const std::string& word : one.forbidden) CHECK_MESSAGE(stub.find(word) != std::string::npos, word);
    if (stub.find("_backward(const Tensor") == std::string::npos) continue;
    ++backwards;
    CHECK(forbidden_in("return loss(x).backward();", one).size() == 1);
    CHECK(forbidden_in("return x.grad();", one).size() == 1);
  }
  CHECK(backwards == 4);
}

TEST_CASE("forbidden: the grader sees ops that run, by whatever way, and not those of its own references") {
  const Tensor x = ones({2, 3});
  const auto problems = [](auto run) { return problems_of(run, "layer_norm", 0); };
  CHECK(problems([&] {
          nn::LayerNorm norm(3);
          norm(ones({2, 3}, f32));
        }).size() == 1);
  CHECK(problems([&] {
          auto* const f = &gradus::layer_norm;
          f(x, {}, {}, 1e-5);
        }).size() == 1);
  CHECK(problems([&] { by_library([&] { return layer_norm(x); }); }).empty());
  CHECK(problems([&] { softmax(x, -1); }).empty());
}

TEST_CASE("grading: what is wrong is said") {
  const auto problems = [](auto run) { return problems_of(run, "", 0); };
  CHECK(problems([] {
          near("y", tensor({1.0, 2.0}), tensor({1.0, 3.0}));
        }) == std::vector<std::string>{"y[1] is 2, not 3"});
  CHECK(problems([] {
          near("y", ones({2, 3}), ones({3, 2}));
        }) == std::vector<std::string>{"y has shape [2, 3], not [3, 2]"});
  CHECK(problems([] { near("y", Tensor(), ones({2})); }) ==
        std::vector<std::string>{"y is an undefined tensor"});
  CHECK(problems([] { near("y", std::nan(""), 1); }) == std::vector<std::string>{"y is nan, not 1"});
  CHECK(problems([] { matmul(ones({2}), ones({3})); })[0].starts_with("it throws: matmul"));
  CHECK(problems([] { const Tensor y = todo(1); })[0].starts_with("not written yet"));
  CHECK(problems([] { gradients([](const Tensor& a) { return a * a.detach(); }, {{3}}); }).size() > 0);
  CHECK(problems([] { gradients([](const Tensor& a) { return a * a; }, {{3}}); }).empty());
}

TEST_CASE("compile errors: the learner's own come first, two of them, with a remedy") {
  const std::filesystem::path answer = "/home/me/my/11_layer_norm.h";
  CHECK(compile_errors("/usr/x.h:3:4: error: deep inside\n/home/me/my/11_layer_norm.h:7:5: error: 'foo' was "
                       "not declared in this scope\n"
                       "    7 |   foo(x);\n      |   ^~~\n",
                       answer) ==
        "  line 7: 'foo' was not declared in this scope\n      7 |   foo(x);\n        |   ^~~\n"
        "    Is the name spelt right? ops/ops.h lists the ops; methods are called as x.mean(-1, true).\n");
  CHECK(compile_errors("/x/grade.h:5:9: error: cannot convert\n", answer) ==
        "  cannot convert\n    Do all functions have the name, the arguments and the result they have in the "
        "stub?\n");
}

}  // namespace gradus::learn
