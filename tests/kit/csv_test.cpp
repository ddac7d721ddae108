#include "gradus/kit/data/csv.h"

#include <doctest/doctest.h>

#include <clocale>
#include <cmath>
#include <limits>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "support.h"

using namespace gradus;
using namespace gradus::kit;
using namespace std::string_literals;

namespace {

/// A file of these bytes, and the messages about it, which begin with its name.
struct File {
  test::ScratchFolder folder;
  std::string path = (folder / "cars.csv").string();

  explicit File(std::string_view bytes) { replace_file(path, bytes); }
  Csv read(const CsvOptions& options = {}) const { return read_csv(path, options); }

  /// The message of the Error that `f` throws, with "FILE" for the path.
  template <class F>
  std::string message(const F& f) const {
    try {
      f();
    } catch (const Error& error) {
      std::string text = error.what();
      if (const std::size_t at = text.find(path); at != std::string::npos)
        text.replace(at, path.size(), "FILE");
      return text;
    }
    return "no error";
  }
  std::string refused(const CsvOptions& options = {}) const {
    return message([&] { read(options); });
  }
  std::string refused_number(std::optional<DType> dtype = {}, const CsvOptions& options = {}) const {
    const Csv csv = read(options);
    return message([&] { csv.tensor(dtype); });
  }
};

using Words = std::vector<std::string>;

Words words(std::string_view bytes, std::string_view column = "a", const CsvOptions& options = {}) {
  return File(bytes).read(options).text(column);
}

template <class T = double>
std::vector<T> numbers(std::string_view bytes, DType dtype, const CsvOptions& options = {}) {
  return File(bytes).read(options).tensor(dtype).to_vector<T>();
}

}  // namespace

TEST_CASE("columns of a CSV file become tensors") {
  const File file("weight,power,name,price\n1200,90,Rex,10.5\n800.5,60,Bob,7\n");
  const Csv cars = file.read();
  CHECK(cars.rows() == 2);
  CHECK(cars.columns() == Words{"weight", "power", "name", "price"});
  CHECK(file.read().columns() == cars.columns());
  const Tensor x = cars.tensor({"power", "weight"});
  CHECK(x.shape() == Shape{2, 2});
  CHECK(x.dtype() == f32);
  CHECK(x.to_vector<float>() == std::vector<float>{90, 1200, 60, 800.5F});
  const Tensor y = cars.tensor({"price"}, f64);
  CHECK(y.shape() == Shape{2, 1});
  CHECK(y.to_vector<double>() == std::vector<double>{10.5, 7});
  CHECK(cars.tensor({"power"}, i64).to_vector<int>() == std::vector{90, 60});
  CHECK(cars.text("name") == Words{"Rex", "Bob"});
  CHECK(cars.tensor("price").shape() == Shape{2, 1});
  CHECK(cars.tensor(std::string("price"), f64).to_vector<double>() == std::vector<double>{10.5, 7});
  const DefaultDType guard(f64);
  CHECK(cars.tensor({"price"}).dtype() == f64);
}

TEST_CASE("cells follow RFC 4180 and common practice") {
  CHECK(words("a,b\n\"x,y\",1\n\"two\nlines\",2\n\"say \"\"hi\"\"\",3\n\"\",4\n") ==
        Words{"x,y", "two\nlines", "say \"hi\"", ""});
  CHECK(words("a\r\nx\r\ny\r\n") == Words{"x", "y"});
  CHECK(words("a\rx\ry") == Words{"x", "y"});
  CHECK(words("\n\na,b\n\n  \nx,1\n\n\ny,2") == Words{"x", "y"});  // blank lines; no newline at the end
  CHECK(words("\xEF\xBB\xBF"
              "a,b\nx,y\n") == Words{"x"});                     // a byte order mark
  CHECK(words("a , b\n  x  ,\t y y \n", "b") == Words{"y y"});  // blanks around
  CHECK(words("a,b\n \" x \" ,1\n") == Words{" x "});           // but not inside quotes
  CHECK(words("a\tb\n\t y\n \"x\t\"\tz\n", "a", {.delimiter = '\t'}) == Words{"", "x\t"});
  CHECK(words("a;b\n1,5;2\n", "a", {.delimiter = ';'}) == Words{"1,5"});
  CHECK(words("x,y\nz,w", "1", {.header = false}) == Words{"y", "w"});
  CHECK(words(std::string_view("a\nx\0y\n", 6)) == Words{std::string("x\0y", 3)});
  CHECK(words("gr\xC3\xB6\xC3\x9F"
              "e\nM\xC3\xBC\n",
              "gr\xC3\xB6\xC3\x9F"
              "e") == Words{"M\xC3\xBC"});
  const Csv none = File("a,b\n").read();
  CHECK(none.rows() == 0);
  CHECK(none.tensor().shape() == Shape{0, 2});
}

TEST_CASE("numbers are decimal, in any locale") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(numbers("a\n12\n-0.5\n+1e-3\n.5\n5.\n1E2\n\" 7 \"\n", f64) ==
        std::vector<double>{12, -0.5, 1e-3, 0.5, 5, 100, 7});
  CHECK(numbers("a\ninf\n-INF\nInfinity\n", f64) == std::vector<double>{inf, -inf, inf});
  CHECK(std::isnan(numbers("a\nNaN\n", f64)[0]));
  // Too small is zero, as in C and Python; the nearest float is not that of the nearest double.
  CHECK(numbers("a\n1e-400\n-1e-400\n5e-324\n", f64) == std::vector<double>{0, -0.0, 5e-324});
  CHECK(std::signbit(numbers("a\n-1e-400\n", f64)[0]));
  const std::string zeros(400, '0');
  for (const std::string& tiny : {"1e-5000"s, "+1E-5000"s, "1e-99999999999"s, "0." + zeros + "1",
                                  "." + zeros + "1e5", "1" + zeros + "e-800"}) {
    CAPTURE(tiny);
    CHECK(numbers("a\n" + tiny + "\n", f64)[0] == 0);
    CHECK(numbers<float>("a\n" + tiny + "\n", f32)[0] == 0);
  }
  CHECK(numbers<float>("a\n1e-50\n1e-45\n1.00000017881393432617187499\n", f32) ==
        std::vector<float>{0, 1e-45F, 1.00000011920928955078125F});
  CHECK(numbers<std::int64_t>("a\n9223372036854775807\n-9223372036854775808\n3.0\n1e3\n", i64) ==
        std::vector<std::int64_t>{INT64_MAX, INT64_MIN, 3, 1000});
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL, locale);  // where there is one
    CHECK(numbers("a;b\n1.5;1e-400\n", f64, {.delimiter = ';'}) == std::vector<double>{1.5, 0});
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("a cell that is not a number is an error with its position and a remedy") {
  CHECK(File("weight,power\n1,2\n\n\"3\",4\n5,?\n").refused_number() ==
        "Csv::tensor: FILE, line 5, column 'power': '?' is not a number; expects one such as -0.5 or 1e3; "
        "categories() and text() read words");
  CHECK(File("a,b\r\n\"two\r\nlines\",1\r\nx,zwei\r\n").refused_number() ==
        "Csv::tensor: FILE, line 2, column 'a': 'two??lines' is not a number; expects one such as -0.5 or "
        "1e3; categories() and text() read words");
  for (const char* bad :
       {"0x10", "1,5", "1 2", "1e", "--1", "++1", "+-1", "1_000", "1.2.3", "e3", "true", "$1"}) {
    CAPTURE(bad);
    CHECK(File("a\n\"" + std::string(bad) + "\"\n").refused_number().find("line 2, column 'a'") !=
          std::string::npos);
  }
  CHECK(File("a,b\n\"\nx\",1\ny,?\n").refused_number() ==  // a cell that begins with a line break
        "Csv::tensor: FILE, line 2, column 'a': '?x' is not a number; expects one such as -0.5 or 1e3; "
        "categories() and text() read words");
  const File broken("a,b\n\"\nx\",1\ny,?\n");
  CHECK(broken.message([&] { broken.read().tensor("b"); })
            .starts_with("Csv::tensor: FILE, line 4, column 'b': '?'"));
  CHECK(File("a\n1e39\n").refused_number() ==
        "Csv::tensor: FILE, line 2, column 'a': '1e39' is too large for f32; ask for f64");
  CHECK(File("a\n-1e999\n").refused_number(f64) ==
        "Csv::tensor: FILE, line 2, column 'a': '-1e999' is too large for f64");
  const std::string zeros(400, '0');
  for (const std::string& huge : {"1e5000"s, "1e+99999999999"s, "1" + zeros, "-0." + zeros + "1e800"}) {
    CAPTURE(huge);
    CHECK(File("a\n" + huge + "\n").refused_number(f64).ends_with("' is too large for f64"));
    CHECK(File("a\n" + huge + "\n").refused_number().ends_with("' is too large for f32; ask for f64"));
  }
  for (const char* bad : {"2.5", "9223372036854775808", "1e17", "nan", "inf", "1e999", "1e-400"}) {
    CAPTURE(bad);
    CHECK(File("a\n" + std::string(bad) + "\n").refused_number(i64) ==
          "Csv::tensor: FILE, line 2, column 'a': '" + std::string(bad) +
              "' is not a whole number in the range of i64; ask for f64");
  }
  CHECK(File("a\n1\n").refused_number(boolean) ==
        "Csv::tensor: expects f32, f64 or i64, got bool; compare instead: x != 0");
}

TEST_CASE("an empty cell is an error unless a number is given for it") {
  const std::string bytes = "a,b\n1,\n2,\" \"\n";
  CHECK(File(bytes).refused_number() ==
        "Csv::tensor: FILE, line 2, column 'b': the cell is empty; pass read_csv a value for it, {.missing = "
        "0} or {.missing = NAN}");
  CHECK(numbers(bytes, f64, {.missing = -1}) == std::vector<double>{1, -1, 2, -1});
  CHECK(numbers<std::int64_t>(bytes, i64, {.missing = 0}) == std::vector<std::int64_t>{1, 0, 2, 0});
  CHECK(std::isnan(numbers(bytes, f64, {.missing = std::nan("")})[1]));
  CHECK(File(bytes).refused_number(i64, {.missing = std::nan("")}) ==
        "Csv::tensor: FILE, line 2, column 'b': the cell is empty, and .missing = nan is not an i64; ask for "
        "f64");
  CHECK(File(bytes).refused_number(i64, {.missing = 0x1p63}).ends_with(" is not an i64; ask for f64"));
  CHECK(numbers<std::int64_t>(bytes, i64, {.missing = -0x1p62})[1] == INT64_MIN / 2);
  CHECK(File(bytes).read().tensor({"a"}).numel() == 2);  // only what is asked for is read
}

TEST_CASE("in a file with one column a blank line is an empty cell") {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    CAPTURE(end);
    const auto lines = [&](std::initializer_list<const char*> all) {
      std::string bytes;
      for (const char* line : all) bytes += line + end;
      return bytes;
    };
    const std::string bytes = lines({"", "a", "1", "", "  ", "2", "", "3", "", ""});
    CHECK(numbers(bytes, f64, {.missing = -1}) == std::vector<double>{1, -1, -1, 2, -1, 3});
    CHECK(words(bytes) == Words{"1", "", "", "2", "", "3"});
    CHECK(
        File(bytes).refused_number().starts_with("Csv::tensor: FILE, line 4, column 'a': the cell is empty"));
    CHECK(words(lines({"", "1", "", "2", ""}), "0", {.header = false}) == Words{"1", "", "2"});
    CHECK(File(lines({"a", "1", "", "x"})).refused_number({}, {.missing = 0}).find("line 4, column") !=
          std::string::npos);
    CHECK(File(lines({"a", "", ""})).read().rows() == 0);
  }
}

TEST_CASE("words are numbered in sorted order, or in that of another file") {
  const Csv train = File("species\nsetosa\nvirginica\nsetosa\n\"\"\n").read();
  const Categories species = train.categories("species");
  CHECK(species.names == Words{"", "setosa", "virginica"});
  CHECK(species.ids.dtype() == i64);
  CHECK(species.ids.shape() == Shape{4});
  CHECK(species.ids.to_vector<int>() == std::vector{1, 2, 1, 0});
  const File other("species\nvirginica\nvirginica\n");
  const Csv test = other.read();
  CHECK(test.categories("species").ids.to_vector<int>() == std::vector{0, 0});
  CHECK(test.categories("species", species.names).ids.to_vector<int>() == std::vector{2, 2});
  CHECK(other.message([&] {
    test.categories("species", {"setosa", "x"});
  }) == "Csv::categories: FILE, line 2, column 'species': 'virginica' is none of 'setosa', 'x'");
  CHECK(other.message([&] {
    test.categories("species", {"x", "x"});
  }) == "Csv::categories: the names 'x', 'x' are not all different");
}

TEST_CASE("an unknown column is an error that lists all columns") {
  const File file("weight,power\n1,2\n");
  const Csv cars = file.read();
  CHECK(file.message([&] {
    cars.tensor({"weight", "Power"});
  }) == "Csv::tensor: FILE has no column 'Power'; its columns are 'weight', 'power'");
  CHECK(file.message([&] { cars.text("gr\u00F6\u00DFe\x1b"); })
            .starts_with("Csv::text: FILE has no column 'gr\u00F6\u00DFe?'"));
  CHECK(file.message([&] { cars.text("x"); }).starts_with("Csv::text: FILE has no column 'x'"));
  CHECK(file.message([&] { cars.categories("x"); }).starts_with("Csv::categories: FILE has no column 'x'"));
  const File semicolons("weight;power\n1;2\n");
  CHECK(semicolons.message([&] { semicolons.read().text("power"); }) ==
        "Csv::text: FILE has no column 'power'; its only column is 'weight;power': is the delimiter right?");
  CHECK(file.message([&] { cars.tensor(Words{}); }).find("expects at least one column") != std::string::npos);
}

TEST_CASE("files with inconsistent rows are rejected, naming the line") {
  CHECK(File("a,b\n1,2\n\"x\n\",4\n5\n").refused() ==
        "read_csv: FILE, line 5: expects 2 cells, as in line 1, got 1; an empty cell also needs its ','");
  CHECK(File("a,b\n1").refused() ==  // no newline at the end
        "read_csv: FILE, line 2: expects 2 cells, as in line 1, got 1; an empty cell also needs its ','");
  CHECK(File("\na,b\n1,2,3\n").refused() ==
        "read_csv: FILE, line 3: expects 2 cells, as in line 2, got 3; a cell that contains a ',' needs "
        "quotes around it");
  CHECK(File("a,b,a\n1,2,3\n").refused() ==
        "read_csv: FILE, line 1: columns 1 and 3 are both called 'a'; give them different names");
  CHECK(File("").refused() == "read_csv: FILE is empty; expects a first row with the names of the columns");
  CHECK(File("\xEF\xBB\xBF\n \r\n").refused().find("is empty") != std::string::npos);
  CHECK(File("a\n1\n\"2\n3\n4\n").refused() ==
        "read_csv: FILE, line 3: the quote of a cell that begins here is not closed");
  CHECK(
      File("a\n1\n5\" wide\n").refused() ==
      "read_csv: FILE, line 3: a quote inside a cell; put the cell in quotes and double those in it: \"5\"\" "
      "wide\"");
  CHECK(File("a,b\n\"x\"y,1\n").refused().find("line 2: a quote inside a cell") != std::string::npos);
  CHECK(File("\xFF\xFE"
             "a")
            .refused() == "read_csv: FILE is UTF-16; save it as UTF-8");
  CHECK(File("a\n\"" + std::string((std::size_t{1} << 24) + 1, 'x') + "\"\n").refused() ==
        "read_csv: FILE, line 2: a cell has more than 16 MiB; is a quote missing?");
  CHECK(File("a\n1\n\"" + std::string(std::size_t{1} << 25, 'x')).refused() ==
        "read_csv: FILE, line 3: a cell has more than 16 MiB; is a quote missing?");
  CHECK(File("a").refused({.delimiter = '"'}) ==
        "read_csv: '\"' cannot be the delimiter; expects one such as ',', ';' or '\\t'");
  CHECK_THROWS_WITH_AS(read_csv("none.csv"), "read_csv: cannot open none.csv: No such file or directory",
                       Error);
}

TEST_CASE("lines are counted through a long file, with any line ending") {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    std::string bytes = "a,b" + end;
    for (int i = 0; i < 200'000; ++i) bytes += "1,\"2\"" + end;  // more than is parsed at once
    const Csv csv = File(bytes).read();
    CHECK(csv.rows() == 200'000);
    CHECK(csv.tensor().sum().item() == 600'000);
    CHECK(File(bytes + "\"\"x,1").refused().starts_with("read_csv: FILE, line 200002: a quote"));
    CHECK(File(bytes + "3" + end).refused().starts_with("read_csv: FILE, line 200002: expects 2"));
    CHECK(File(bytes + "\"" + end).refused().starts_with("read_csv: FILE, line 200002: the quote"));
  }
}

TEST_CASE("a million columns are named, checked and read in no time") {  // column by column it would be hours
  const test::ScratchFolder folder;
  constexpr int kColumns = 1'000'000;
  std::string names, cells;
  for (int i = 0; i < kColumns; ++i) {
    names += (i == 0 ? "" : ",") + std::to_string(i) + "th";
    cells += (i == 0 ? "" : ",") + std::to_string(i % 10);
  }
  replace_file(folder / "wide.csv", names + "\n" + cells + "\n");
  const Csv wide = read_csv(folder / "wide.csv");
  const Tensor x = wide.tensor();
  CHECK(x.shape() == Shape{1, kColumns});
  CHECK(x[0][kColumns - 1].item() == (kColumns - 1) % 10);
  replace_file(folder / "wide.csv", names + ",7th\n");
  CHECK_THROWS_WITH_AS(read_csv(folder / "wide.csv"),
                       doctest::Contains("columns 8 and 1000001 are both called '7th'"), Error);
}
