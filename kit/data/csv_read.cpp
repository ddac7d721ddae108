// read_csv: libcsv finds the cells, this file checks them.

#include <csv.h>
#include <fmt/format.h>

#include <exception>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/csv.h"
#include "gradus/kit/data/files.h"

namespace gradus::kit {

/// Reads one file once.
class CsvReader {
 public:
  CsvReader(const std::filesystem::path& path, const CsvOptions& options);
  ~CsvReader() { csv_free(&parser_); }
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  Csv read(std::string_view bytes);

 private:
  void parse(std::string_view bytes);
  void take_cell(std::string_view text);
  void take_blank_lines();
  void end_row();
  void name_columns();

  template <class... Args>
  [[noreturn]] void fail_at(std::int64_t line, fmt::format_string<const Args&...> message,
                            const Args&... args) const {
    fail_input_with("read_csv: {}, line {}: {}", csv_.path_, line, fmt::format(message, args...));
  }

  /// Must not throw through libcsv, which is C: keeps an error until it returns.
  template <class F>
  void guarded(const F& f) {
    if (error_) return;
    try {
      f();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  static void on_cell(void* text, std::size_t size, void* self);
  static void on_line_end(int end, void* self);

  bool header_;
  char delimiter_;
  csv_parser parser_{};
  Csv csv_;
  std::exception_ptr error_;
  std::int64_t line_ = 1;      // the first line of the current cell
  std::int64_t row_line_ = 1;  // the first line of its row
  std::int64_t first_line_ = 0;
  std::int64_t blank_ = 0;     // the number of preceding lines that may be empty cells
  std::size_t row_start_ = 0;  // in csv_.ends_
  bool after_cr_ = false;
};

namespace {

constexpr std::size_t kLongestCell = std::size_t{1} << 24;

/// Counts line breaks: \n, \r\n and \r.
std::int64_t line_breaks(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    count += text[i] == '\r' || (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'));
  return count;
}

}  // namespace

CsvReader::CsvReader(const std::filesystem::path& path, const CsvOptions& options)
    : header_(options.header), delimiter_(options.delimiter) {
  csv_.path_ = io::printable(path.string());
  csv_.missing_ = options.missing;
  check(std::string_view("\"\r\n \0", 5).find(delimiter_) == std::string_view::npos,
        "read_csv: {} cannot be the delimiter; expects one such as ',', ';' or '\\t'",
        io::quote(std::string(1, delimiter_)));
  csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL);
  csv_set_delim(&parser_, static_cast<unsigned char>(delimiter_));
  csv_set_blk_size(&parser_, 1 << 16);
}

void CsvReader::on_cell(void* text, std::size_t size, void* self) {
  auto& reader = *static_cast<CsvReader*>(self);
  reader.guarded([&] { reader.take_cell({static_cast<const char*>(text), size}); });
}

void CsvReader::on_line_end(int end, void* self) {
  auto& reader = *static_cast<CsvReader*>(self);
  reader.guarded([&] {
    const bool breaks = end == '\r' || (end == '\n' && !reader.after_cr_);
    if (reader.csv_.ends_.size() > reader.row_start_)
      reader.end_row();
    else if (breaks && reader.csv_.columns_.size() == 1)
      ++reader.blank_;
    reader.line_ += breaks;
    reader.after_cr_ = end == '\r';
  });
}

void CsvReader::take_cell(std::string_view text) {
  if (csv_.ends_.size() == row_start_) {
    take_blank_lines();
    row_line_ = line_;
  }
  if (text.size() > kLongestCell) fail_at(line_, "a cell has more than 16 MiB; is a quote missing?");
  csv_.cells_ += text;
  csv_.ends_.push_back(csv_.cells_.size());
  line_ += line_breaks(text);
  after_cr_ = false;
}

/// In a file with one column, a blank line is an empty cell: skipping it would shift the rows.
void CsvReader::take_blank_lines() {
  for (; blank_ > 0; --blank_) {
    csv_.ends_.push_back(csv_.cells_.size());
    csv_.lines_.push_back(line_ - blank_);
  }
  row_start_ = csv_.ends_.size();
}

void CsvReader::end_row() {
  const std::size_t cells = csv_.ends_.size() - row_start_;
  if (csv_.columns_.empty()) {
    first_line_ = row_line_;
    name_columns();
    if (header_) return;
  }
  const std::size_t expected = csv_.columns_.size();
  if (cells != expected)
    fail_at(row_line_, "expects {} cells, as in line {}, got {}; {}", expected, first_line_, cells,
            cells < expected ? fmt::format("an empty cell also needs its '{}'", delimiter_)
                             : fmt::format("a cell that contains a '{}' needs quotes around it", delimiter_));
  csv_.lines_.push_back(row_line_);
  row_start_ = csv_.ends_.size();
}

void CsvReader::name_columns() {
  std::vector<std::string>& names = csv_.columns_;
  const std::size_t count = csv_.ends_.size();
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(header_ ? std::string(csv_.cell(0, i)) : std::to_string(i));
  for (std::size_t i = 0; i < count; ++i)
    if (const auto [first, fresh] = csv_.places_.emplace(names[i], i); !fresh)
      fail_at(first_line_, "columns {} and {} are both called {}; give them different names",
              first->second + 1, i + 1, io::quote(names[i]));
  if (!header_) return;
  csv_.cells_.clear();
  csv_.ends_.clear();
}

void CsvReader::parse(std::string_view bytes) {
  constexpr std::size_t kStep = 1 << 20;
  const std::string_view all = bytes;
  while (!bytes.empty()) {
    const std::string_view step = bytes.substr(0, kStep);
    const std::size_t done = csv_parse(&parser_, step.data(), step.size(), on_cell, on_line_end, this);
    if (error_) std::rethrow_exception(error_);
    bytes.remove_prefix(done);
    if (done < step.size()) {
      // never run: libcsv takes its memory from the C library, which cannot be made to fail here
      if (csv_error(&parser_) == CSV_ENOMEM) throw std::bad_alloc();
      fail_at(1 + line_breaks(all.substr(0, all.size() - bytes.size())),
              "a quote inside a cell; put the cell in quotes and double those in it: \"5\"\" wide\"");
    }
    if (parser_.entry_pos > kLongestCell) fail_at(line_, "a cell has more than 16 MiB; is a quote missing?");
  }
  if (csv_fini(&parser_, on_cell, on_line_end, this) != 0)
    fail_at(line_, "the quote of a cell that begins here is not closed");
  if (error_) std::rethrow_exception(error_);
}

Csv CsvReader::read(std::string_view bytes) {
  for (const std::string_view mark : {"\xFF\xFE", "\xFE\xFF"})
    check_input(!bytes.starts_with(mark), "read_csv: {} is UTF-16; save it as UTF-8", csv_.path_);
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  csv_.cells_.reserve(bytes.size());
  parse(bytes);
  check_input(!csv_.columns_.empty(),
              "read_csv: {} is empty; expects a first row with the names of the columns", csv_.path_);
  return std::move(csv_);
}

Csv read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  return CsvReader(path, options).read(read_file_or_pipe(path, "read_csv"));
}

}  // namespace gradus::kit
