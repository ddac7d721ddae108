#pragma once
// Reads numbers and words from CSV files as tensors.

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
  char delimiter = ',';             // also common: '\t' and ';'
  bool header = true;               // the first row names the columns; without it they are "0", "1", ...
  std::optional<double> missing{};  // the value of an empty cell, or NAN; an error if not given
};

/// A column of words as ids: `names[ids[i]]` is the word in row i.
struct Categories {
  Tensor ids;  // i64 [rows]
  std::vector<std::string> names;
};

/// A CSV file in memory: cells of text, which are converted to numbers on demand.
class Csv {
 public:
  /// The number of rows, without the header.
  std::int64_t rows() const { return static_cast<std::int64_t>(lines_.size()); }
  /// The columns' names, in the order of the file.
  const std::vector<std::string>& columns() const& { return columns_; }
  std::vector<std::string> columns() const&& { return columns_; }

  /// These columns as [rows, names]: `Tensor x = cars.tensor({"weight", "power"});` in f32, f64 or i64, by
  /// default default_dtype(). Cells contain decimal numbers: 12, -0.5, +1e-3, nan, inf. Throws, with file,
  /// line and column, for any other cell, for a value too large for the dtype, and for i64 also if it is not
  /// whole.
  Tensor tensor(const std::vector<std::string>& names, std::optional<DType> dtype = {}) const;
  /// One column: [rows, 1].
  template <std::convertible_to<std::string_view> Name>
  Tensor tensor(const Name& name, std::optional<DType> dtype = {}) const {
    return tensor(std::vector{std::string(std::string_view(name))}, dtype);
  }
  /// All columns: [rows, columns].
  Tensor tensor(std::optional<DType> dtype = {}) const { return tensor(columns_, dtype); }

  /// A column as in the file, without quotes.
  std::vector<std::string> text(std::string_view column) const;

  /// Numbers a column's words 0, 1, ... in sorted order; an empty cell is the word "". Pass `names` to use
  /// the numbering of another file: then a word that is not among them is an error.
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
  std::string cells_;                                       // concatenated, row by row
  std::vector<std::uint64_t> ends_;                         // the end of each cell in cells_
  std::vector<std::int64_t> lines_;                         // the first line of each row in the file, from 1
};

/// Reads a CSV file (RFC 4180; also from a pipe): cells in quotes may contain delimiters, line breaks and
/// doubled quotes; blanks around cells, blank lines and a byte order mark are skipped; lines end in \n, \r\n
/// or \r. In a file with one column, a blank line between the first row and the last is an empty cell.
///
///   const kit::Csv cars = kit::read_csv("cars.csv");
///   Tensor x = cars.tensor({"weight", "power"});
///
/// Throws, with file and line, when a row has more or fewer cells than the first, two columns share a name, a
/// quote is not closed or is inside a cell without quotes, or the file is empty.
Csv read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace gradus::kit
