#include "learn/program/forbidden.h"

#include <doctest/doctest.h>

#include "learn/grading/grading.h"
#include "learn/program/grade_answer.h"
#include "learn/program/remedies.h"
#include "learn/program/tokens.h"
#include "support.h"

#include "gradus/nn/nn.h"

namespace gradus::learn {

namespace {
std::vector<std::string> found(const std::string& code) {
  Exercise exercise;
  exercise.name = "11_layer_norm";
  exercise.forbidden = {"layer_norm", "var", "std", "sum", "mean"};
  return forbidden_in(code, exercise);
}
}  // namespace

TEST_CASE("forbidden: comments and strings are not code, lines stay") {
  CHECK(without_comments("a // b\nc /* d\n e */ f \"g // h\" i") == "a \nc  \n f \"\" i");
  CHECK(without_comments("'\"' + \"\\\"x\" + 1'000") == "'' + \"\" + 1'000");
  CHECK(without_comments("/* never closed") == " ");
  CHECK(without_comments("a\\\nb \\ \n\nc // d \\\n e") ==
        "ab \n\n\nc \n");  // a joined line, and its newlines
  CHECK(without_comments("R\"(\")\" a R\"x(\n)\" )x\" b \"c\"") == "R\"\" a R\"\"\n b \"\"");
  CHECK(without_comments("\"a\" // b", true) == "\"a\" ");
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
  CHECK(found("(layer_norm)(x)").size() == 1);
  CHECK(found("auto f = layer_norm;").size() == 1);
  CHECK(found("using namespace std; vector<thread> all; jthread t(f);").size() == 2);
}

TEST_CASE("forbidden: a variable may have the name of an op") {
  for (const std::string fine :
       {"std::vector<double> sum(chunks, 0.0); sum[c] += x[i]; return sum;",
        "double total = 0, sum = 0; sum += total;", "for (double thread : sums) total += thread;",
        "const auto [mean, var] = both(x); return mean / var;", "std::vector<std::vector<double>> sum(3);",
        "auto& sum = parts[c]; sum += 1;", "Tensor layer_norm{x};", "double sum(0); if (sum > 2) return sum;",
        "struct Both { double mean, var; }; return Both{.mean = b.mean};"}) {
    CAPTURE(fine);
    CHECK(found(fine).empty());
  }
  for (const std::string wrong :
       {"double sum = 0; y = x.sum(-1);", "double sum = 0; y = x\n.sum\n(-1);", "return sum(x);",
        "y = a * sum(x);", "if (a > sum(x)) y = 1;", "double sum = 0; return gradus::sum(x);",
        "std::vector<double> v(mean(x));", "if (i < n && a > sum(x)) y = 1;"}) {
    CAPTURE(wrong);
    CHECK(found(wrong).size() == 1);
  }
}

TEST_CASE("forbidden: other ways to write a macro, a name or a header") {
  for (const std::string wrong :
       {"%:define NORM layer", "%: include <gradus/nn/nn.h>", "#inc\\\nlude \"gradus/nn/nn.h\"",
        "y = layer_\\\nnorm(x);", "#include \"./given.h\"", "#include \"../course/12_norms/given.h\"",
        "#include \"my.h\" // \"learn/learn.h\"", "#include \"course/12_norms/given.h\"",
        "#include </home/me/my.h>", "#include <my/given.h>",
        "const char* a = R\"(\")\"; y = layer_norm(x); const char* b = R\"(\")\";"}) {
    CAPTURE(wrong);
    CHECK(found(wrong).size() == 1);
  }
  CHECK(found("#include \"course/11_layer_norm/given.h\"\r\n%:include <cmath>\n#pragma once\n").empty());
  CHECK(found("\\\n\\\na;\n\nlayer_norm(x)") ==
        std::vector<std::string>{"line 5: layer_norm is yours to write here"});
}

TEST_CASE("forbidden: who is to write a backward may not ask the tape for it, and the stub says so") {
  int backwards = 0;
  for (const Exercise& one : exercises(test::source_file("examples/course"))) {
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
  CHECK(compile_errors("/x/cases.h:5:9: error: cannot convert\n", answer) ==
        "  cannot convert\n    Do all functions have the same names, arguments and results as in the "
        "stub?\n");
  CHECK(compile_errors(
            "/usr/bin/ld: answer.cpp.o: in function `main':\n"
            "answer.cpp:(.text+0x1b): multiple definition of `main'; main.cpp.o: first defined here\n"
            "collect2: error: ld returned 1 exit status\n",
            answer) == "  multiple definition of `main'\n    It is defined twice.\n");
}

TEST_CASE("compile errors: the remedy is chosen by the types and functions in the message") {
  const auto says = [](const std::string& error) { return remedy(error, {}); };
  const auto begins = [&](const std::string& error, const std::string& words) {
    CHECK_MESSAGE(says(error).starts_with(words), error, ": ", says(error));
  };
  begins("use of deleted function 'gradus::Tensor::operator bool() const'", "A Tensor is no bool");
  begins("use of deleted function 'gradus::Int::Int(T) [with T = double]'", "A size or an index");
  begins(
      "use of deleted function 'gradus::TensorList gradus::grad(const Tensor&, const T&, const "
      "GradOptions&) [with T = Tensor]'",
      "The inputs are a list");
  begins(
      "use of deleted function 'gradus::Tensor gradus::cross_entropy(const Tensor&, const Tensor&, const "
      "auto:61&) [with auto:61 = Reduction]'",
      "Options are in braces");
  begins("use of deleted function 'gradus::Tensor gradus::Tensor::view(auto:22, auto:23 ...) const'",
         "This form of the call");
  begins("no match for 'operator^' (operand types are 'gradus::Tensor' and 'int')", "C++ has no operator");
  begins("no match for 'operator=' (operand types are 'const gradus::Tensor' and 'gradus::Tensor')",
         "It is const");
  begins("no match for 'operator-' (operand types are 'std::vector<double>' and 'std::vector<double>')",
         "A std::vector has no arithmetic");
  begins("no match for 'operator+' (operand types are 'gradus::Tensor' and 'char')", "These two types");
  begins("'w' is not captured", "A lambda takes in");
  begins("a function-definition is not allowed here before '{' token", "A function cannot be defined");
  begins("'cout' was not declared in this scope", "Names of the standard library");
  begins(
      "conversion from 'std::pair<gradus::Tensor, gradus::Tensor>' to non-scalar type 'gradus::Tensor' "
      "requested",
      "It is a pair");
  begins("invalid types '<unresolved overloaded function type>[int]' for array subscript", "A method is");
  begins("no matching function for call to 'std::vector<double>::push_back(gradus::Tensor&)'",
         "push_back takes one value");
  begins("no matching function for call to 'std::vector<double>::push_back(gradus::Tensor)'",
         "push_back takes one value");
  begins("no matching function for call to 'gradus::Tensor::size() const'", "The function takes different");
  begins(
      "could not convert '((void)0, db)' from 'gradus::Tensor' to 'std::pair<gradus::Tensor, "
      "gradus::Tensor>'",
      "Two values");
  begins(
      "no viable conversion from returned value of type 'gradus::Tensor' to function return type "
      "'std::pair<Tensor, Tensor>'",
      "Two values");
  begins(
      "no match for 'operator[]' (operand types are 'std::vector<std::__cxx11::basic_string<char> >' and "
      "'gradus::Tensor')",
      "A size or an index");
  begins("no viable overloaded operator[] for type 'std::vector<std::string>'", "A size or an index");
  begins(
      "use of deleted function 'gradus::TensorList gradus::grad(const Tensor&, const std::vector<Tensor>&, "
      "T) [with T = bool; TensorList = ListOf<Tensor>]'",
      "The inputs are a list, in braces, and options have names");
  begins("no match for 'operator~' (operand type is 'const gradus::Tensor')", "The opposite of a mask");
  begins("invalid argument type 'const gradus::Tensor' to unary expression", "The opposite of a mask");
  begins("no matching function for call to 'sqrt(const gradus::Tensor&)'", "Functions of std::");
  begins("no matching function for call to 'sqrt'", "Functions of std::");
  begins("no matching function for call to 'pow(const gradus::Tensor&, int)'", "Functions of std::");
  begins("no matching function for call to 'pow(double, gradus::Tensor)'", "pow(x, p) takes a Tensor");
  CHECK(says("'const class gradus::Tensor' has no member named 'masked_fill'").find("masked_fill(x") !=
        std::string::npos);
  CHECK(says("something else").empty());
  CHECK(compile_errors("/home/me/my/a.h:2:4: error: it\n/home/me/my/a.h:2:4: error: it\n",
                       "/home/me/my/a.h") == "  line 2: it\n");
}

TEST_CASE("compile errors: what is not closed, and semicolons") {
  const std::filesystem::path answer = "/home/me/my/11_layer_norm.h";
  CHECK(compile_errors("/x/answer.cpp:3:1: error: 'namespace' definition is not allowed here\n", answer) ==
        "  'namespace' definition is not allowed here\n    A brace is not closed, or the file ends in the "
        "middle "
        "of a statement.\n");
  CHECK(compile_errors("/home/me/my/11_layer_norm.h:7:5: error: expected ',' or ';' before 'return'\n",
                       answer) ==
        "  line 7: expected ',' or ';' before 'return'\n    A semicolon is missing at the end of this line "
        "or the previous one.\n");
}

}  // namespace gradus::learn
