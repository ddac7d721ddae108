// The code that docs/course/cpp.md quotes.

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/gradus.h"

namespace gradus::test {

namespace {

// [template]
template <class F>
double twice(const F& f, double x) {  // for every F that can be called: the compiler writes one for each
  return f(f(x));
}
// [/template]

// [members]
struct Settings {
  double rate = 0.01;  // a member initializer: the value unless another one is given
  double momentum = 0;
  int steps = 100;
};
// [/members]

// [functor]
struct Scale {
  double operator()(double x) const { return factor * x; }  // called like a function: Scale{2}(3)
  double factor;
};
// [/functor]

// [inherits]
struct Layer : nn::Module {  // a Layer is a Module, too, and has its members: parameters(), train(), ...
  Layer(std::int64_t in, std::int64_t out) : weight(parameter("weight", randn({out, in}))) {}
  Tensor operator()(const Tensor& x) const { return linear(x, weight); }
  nn::Parameter weight;
};
// [/inherits]

// [span]
double total(std::span<const double> x) {  // any elements in a row: a vector, an array or a part of one
  return x.empty() ? 0 : x[0] + total(x.subspan(1));
}
// [/span]

// [pair]
std::pair<double, double> range(const std::vector<double>& x) {
  double low = x[0], high = x[0];
  for (const double value : x) low = std::min(low, value), high = std::max(high, value);
  return {low, high};
}
// [/pair]

}  // namespace

TEST_CASE("course: classes in the programs") {
  // [call]
  const Scale twice_as_much{2};
  CHECK(twice_as_much(3) == 6);
  const Layer layer(3, 2);
  CHECK(layer(ones({5, 3})).shape() == Shape{5, 2});
  CHECK(layer.parameters().size() == 1);
  // [/call]

  // [exchange]
  constexpr int most = 3;  // known when the program is compiled
  std::vector<int> a = {1, 2, 3};
  const std::vector<int> b = std::move(a);  // takes over the elements, without a copy: a is not used after it
  CHECK(b.size() == most);
  int last = 1;
  const int before = std::exchange(last, 5);  // last becomes 5; the old value is returned
  CHECK(before == 1);
  CHECK(last == 5);
  // [/exchange]
}

TEST_CASE("the page's C++ does what it says") {
  {
    // [lambda]
    double rate = 0.5;
    const auto square = [](double x) { return x * x; };  // a function as a value, without a name of its own
    const auto copies = [=](double x) { return rate * x; };  // with a copy of rate as it is here
    const auto refers = [&](double x) { return rate * x; };  // with rate itself, which must live as long
    const auto doubled = [r = 2 * rate](double x) { return r * x; };  // with a new r
    rate = 10;
    CHECK(square(3) == 9);
    CHECK(copies(4) == 2);
    CHECK(refers(4) == 40);
    CHECK(doubled(4) == 4);
    // [/lambda]
    // [generic]
    const auto sum = [](const auto& a, const auto& b) { return a + b; };  // a lambda that is a template
    CHECK(twice(square, 3) == 81);
    CHECK(sum(1, 2) == 3);
    CHECK(sum(std::string("a"), "b") == "ab");
    // [/generic]
  }
  {
    // [designated]
    const Settings s = {.rate = 0.1, .steps = 5};  // by name, in the order of the struct
    CHECK(s.rate == 0.1);
    CHECK(s.momentum == 0);
    CHECK(s.steps == 5);
    // [/designated]
  }
  {
    // [ends]
    const auto both = range({3, 1, 2});
    CHECK(both.first == 1);
    CHECK(both.second == 3);
    // [/ends]
    // [binding]
    const auto [low, high] = range({3, 1, 2});  // two names for the two parts
    CHECK(low == 1);
    CHECK(high == 3);
    // [/binding]
  }
  {
    // [map]
    std::map<std::string, int> times;                                           // sorted by its keys
    for (const std::string word : {"the", "cat", "the", "end"}) ++times[word];  // a new entry begins at 0
    std::string text;
    for (const auto& [word, n] : times) text += word + std::to_string(n) + " ";
    CHECK(text == "cat1 end1 the2 ");
    CHECK(times.begin()->first == "cat");  // an iterator points to a pair: key and value
    // [/map]
  }
  {
    // [parts]
    const std::vector<double> x = {1, 2, 3, 4};
    CHECK(total(x) == 10);
    CHECK(total(std::span(x).first(2)) == 3);  // a view: nothing is copied
    // [/parts]
  }
  {
    // [bits]
    const std::uint32_t x = 0b1101;  // 13: 8 + 4 + 1
    CHECK((x >> 2) == 3);            // two places to the right: 0b11
    CHECK((x << 1) == 26);           // one to the left: 0b11010
    CHECK((x & 0b0111) == 5);        // the bits that both have
    CHECK((x | 0b0010) == 15);       // the bits that at least one has
    CHECK((5 ^ 1) == 4);             // the bits that only one has: no power
    CHECK((4 ^ 1) == 5);             // r ^ 1 is the neighbour of r in the pairs (0, 1), (2, 3), (4, 5), ...
    CHECK(std::bit_cast<std::uint32_t>(1.0f) == 0x3f800000u);  // the 32 bits of an f32
    // [/bits]
  }
  {
    // [hexadecimal]
    CHECK(0x1p-14 == std::pow(2, -14));  // 1 times 2 to the power -14
    CHECK(0x1.8p3 == 12);                // 1.5 times 2 to the power 3, since 8 is half of 16
    // [/hexadecimal]
  }
  {
    // [division]
    const int i = 1, C = 4;
    CHECK(i / C == 0);          // integers: what is behind the point is cut off
    CHECK(-7 / 2 == -3);        // towards 0
    CHECK(2 * i / C == 0);      // from left to right: 2 / 4
    CHECK(2.0 * i / C == 0.5);  // one double makes the whole product, and the quotient, a double
    CHECK(static_cast<double>(i) / C == 0.25);
    CHECK(std::pow(16, 1 / 4) == 1);  // to the power 0
    CHECK(std::pow(16, 0.25) == 2);
    // [/division]
    static_assert(std::is_same_v<decltype(2 * i / C), int>);
  }
}

}  // namespace gradus::test
