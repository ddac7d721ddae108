// Numbers as people type them.
#include "learn/program/typed.h"

#include <doctest/doctest.h>

namespace gradus::learn {

TEST_CASE("typed: predictions are read with how sure one is") {
  CHECK(read_prediction("2.5") == std::pair(2.5, 0.5));
  CHECK(read_prediction("2,5 80%") == std::pair(2.5, 0.8));
  CHECK(read_prediction(" -1e-3 0 %") == std::pair(-1e-3, 0.0));
  for (const char* line : {"", "much", "2 3", "2 120%", "inf", "2 80% or so"})
    CHECK_FALSE(read_prediction(line));
}

TEST_CASE("typed: a number alone has nothing after it") {
  CHECK(read_number(" 2,5 \r") == 2.5);
  CHECK(read_number("−1e-3") == -1e-3);
  CHECK(read_number("۷٫۵") == 7.5);
  for (const char* line : {"", "much", "2 3", "5%", "2.5 80%", "3 nats", "1,000", "4/3"})
    CHECK_FALSE_MESSAGE(read_number(line), line);
}

TEST_CASE("typed: a number that may be two, or is none, is refused") {
  for (const char* line :
       {"1,000", "49,984", "-1,000 80%", "1,000,000", "0x10", "3 nan%", "3 inf%", "nan", "5%"})
    CHECK_FALSE_MESSAGE(read_prediction(line), line);
  CHECK(read_prediction("0,125") == std::pair(0.125, 0.5));
  CHECK(read_prediction("1,0001") == std::pair(1.0001, 0.5));
  CHECK(read_prediction("12,50 80 %\r") == std::pair(12.5, 0.8));
  CHECK(read_prediction("1e3") == std::pair(1e3, 0.5));
}

TEST_CASE("typed: a line that nobody types is no number, however long it is") {
  for (const char* one : {"1", "0", "1,", ",", " ", "-", "9", "۱", "٬"}) {
    std::string line;
    while (line.size() < 60'000) line += one;
    CHECK_FALSE_MESSAGE(read_prediction(line), one);
    CHECK_FALSE_MESSAGE(read_choice(line, 3), one);
  }
  CHECK(read_prediction(std::string(900, '0') + "2 80%") == std::pair(2.0, 0.8));
}

TEST_CASE("typed: a choice is a whole number among those there are") {
  CHECK(read_choice("2", 3) == 2u);
  CHECK(read_choice(" ۳ \r", 3) == 3u);
  for (const char* line : {"", " ", "0", "4", "-1", "2 3", "1.9", "2x", "x", "18446744073709551617", "+1"})
    CHECK_FALSE_MESSAGE(read_choice(line, 3), line);
}

TEST_CASE("typed: numbers are read as they are typed in Persian, Arabic and Chinese") {
  CHECK(read_prediction("۲٫۵ ۸۰٪") == std::pair(2.5, 0.8));
  CHECK(read_prediction("\u200f٢٫٥") == std::pair(2.5, 0.5));
  CHECK(read_prediction("２．５　８０％") == std::pair(2.5, 0.8));
  CHECK(read_prediction("\u22122") == std::pair(-2.0, 0.5));
  CHECK_FALSE(read_prediction("۱٬۰۰۰"));
  CHECK(ascii_numbers("۰۱۲۳۴۵۶۷۸۹ ٠١٢٣٤٥٦٧٨٩ ０１２３４５６７８９") == "0123456789 0123456789 0123456789");
}

}  // namespace gradus::learn
