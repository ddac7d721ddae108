#pragma once
// Tables of numbers and words from CSV files, as tensors.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/core/dtype.h"
#include "gradus/core/tensor.h"

namespace gradus::kit {

struct CsvOptions {
  char delimiter = ',';             // '\t' and ';' are common too
  bool header = true;               // the first row names the columns; without it they are "0", "1", ...
  std::optional<double> missing{};  // the number an empty cell stands for, or NAN; an error where not given
};

/// A column of words as numbers: `names[ids[i]]` is the word in row i.
struct Categories {
  Tensor ids;  // i64 [rows]
  std::vector<std::string> names;
};

/// A CSV file in memory: cells of text, which become numbers where they are asked for.
class Csv {
 public:
  /// How many, without the header.
  std::int64_t rows() const { return static_cast<std::int64_t>(lines_.size()); }
  /// The columns' names, in the order of the file.
  const std::vector<std::string>& columns() const& { return columns_; }
  std::vector<std::string> columns() const&& { return columns_; }

  /// These columns, side by side, as [rows, names]: `Tensor x = cars.tensor({"weight", "power"});` in f32,
  /// f64 or i64; default_dtype() unless given. Cells hold decimal numbers: 12, -0.5, +1e-3, nan, inf. Throws,
  /// with file, line and column, at any other cell, also at one too large for the dtype, or that is not whole
  /// where i64 is asked for.
  Tensor tensor(const std::vector<std::string>& names, std::optional<DType> dtype = {}) const;
  /// One column: [rows, 1].
  template <std::convertible_to<std::string_view> Name>
  Tensor tensor(const Name& name, std::optional<DType> dtype = {}) const {
    return tensor(std::vector{std::string(std::string_view(name))}, dtype);
  }
  /// All columns: [rows, columns].
  Tensor tensor(std::optional<DType> dtype = {}) const { return tensor(columns_, dtype); }

  /// A column as it stands in the file, without quotes.
  std::vector<std::string> text(std::string_view column) const;

  /// A column's words as numbers 0, 1, ... in the order of the sorted words; an empty cell is the word "".
  /// Give `names` to number them as another file's: a word that is not among these then is an error.
  ///
  ///   const kit::Categories species = train.categories("species");
  ///   Tensor labels = test.categories("species", species.names).ids;
  Categories categories(std::string_view column, std::vector<std::string> names = {}) const;

 private:
  friend class CsvReader;
  std::size_t find(const char* op, std::string_view column) const;
  std::string_view cell(std::size_t row, std::size_t column) const;
  std::string place(std::size_t row, std::size_t column) const;
  template <class T>
  T number(std::size_t row, std::size_t column) const;
  template <class T>
  void fill(const Tensor& tensor, const std::vector<std::size_t>& columns) const;

  std::string path_;
  std::optional<double> missing_;
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t, std::less<>> places_;  // in columns_, by name
  std::string cells_;                                       // one behind the other, row by row
  std::vector<std::uint64_t> ends_;                         // of each, in cells_
  std::vector<std::int64_t> lines_;                         // of the file, from 1, where each row begins
};

/// Reads a CSV file (RFC 4180; also from a pipe): cells in quotes may hold delimiters, line breaks and
/// doubled quotes; blanks around cells, blank lines and a byte order mark are skipped; lines end in \n, \r\n
/// or \r. In a file of one column a blank line between the first row and the last is an empty cell.
///
///   const kit::Csv cars = kit::read_csv("cars.csv");
///   Tensor x = cars.tensor({"weight", "power"});
///
/// Throws, with file and line, when a row has more or fewer cells than the first, two columns share a name, a
/// quote is not closed or stands inside a cell without quotes, or the file is empty.
Csv read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace gradus::kit
