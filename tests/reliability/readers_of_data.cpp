// Data: tables, images, compressed files, texts.

#include <cmath>
#include <exception>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/core/io/crc32.h"
#include "gradus/kit/data/csv.h"
#include "gradus/kit/data/detail/png.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/gzip.h"
#include "gradus/kit/data/image_files.h"
#include "gradus/kit/data/text_data.h"
#include "gradus/kit/data/utf8.h"
#include "reliability/reader_lists.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::string>;
using namespace std::string_literals;

std::string number(std::size_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

/// A gzip file that stores a text as it is.
std::string gzipped(const std::string& text) {
  return "\x1f\x8b\x08\0\0\0\0\0\x02\xff\x01"s + number(text.size(), 2) + number(~text.size(), 2) + text +
         number(io::crc32(text.data(), text.size()), 4) + number(text.size(), 4);
}

/// Calls all; throws the last Error if none succeeds, and at once when out of memory.
void any_of(std::initializer_list<std::function<void()>> calls) {
  std::exception_ptr problem;
  bool succeeded = false;
  for (const auto& call : calls) try {
      call();
      succeeded = true;
    } catch (const Error& error) {
      if (std::string(error.what()).find("out of memory") != std::string::npos) throw;
      problem = std::current_exception();
    }
  if (!succeeded) std::rethrow_exception(problem);
}

void use_words(const kit::Csv& table, const std::string& column) {
  const kit::Categories words = table.categories(column);
  const std::vector<std::string> cells = table.text(column);
  const std::vector<std::int64_t> ids = words.ids.to_vector<std::int64_t>();
  promise(ids.size() == cells.size(), "rows are missing");
  for (std::size_t i = 0; i < ids.size(); ++i)
    promise(words.names.at(static_cast<std::size_t>(ids[i])) == cells[i], "a word has the wrong id");
}

void use_table(const fs::path& path, const kit::CsvOptions& options) {
  const kit::Csv table = kit::read_csv(path, options);
  const auto cells = table.rows() * static_cast<std::int64_t>(table.columns().size());
  any_of({[&] { promise(table.tensor(DType::f64).numel() == cells, "cells are missing"); },
          [&] { promise(table.tensor(DType::i64).numel() == cells, "cells are missing"); },
          [&] { use_words(table, table.columns().front()); }});
}

void use_values(const Tensor& x, float most) {
  for (const float value : x.to_vector<float>())
    promise(value >= 0 && value <= most, "a value is out of range");
}

}  // namespace

std::vector<Reader> readers_of_data() {
  const std::string labels = "\0\0\x08\x01\0\0\0\x03\x07\0\xff"s,
                    images = "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\0\xff\x33\x80"s;
  const auto png = [](int channels) {
    return kit::to_png({.width = 2,
                        .height = 1,
                        .channels = channels,
                        .values = std::vector<std::uint8_t>(static_cast<std::size_t>(2 * channels), 77)});
  };
  return {
      {"csv", "x.csv",
       [](const fs::path&) {
         return Seeds{"a,b\n1,2\n3,4\n", "word;\"a \"\"b\"\"\"\nx;-1e3\n\n\"y\nz\"; inf\n",
                      "\xef\xbb\xbf"
                      "1\t2\r\n,3\r",
                      "a\n\n1\n\n2"};
       },
       [](const fs::path& folder) {
         const fs::path path = folder / "x.csv";
         any_of({[&] { use_table(path, {}); }, [&] { use_table(path, {.delimiter = ';', .missing = NAN}); },
                 [&] { use_table(path, {.delimiter = '\t', .header = false, .missing = 0.0}); }});
       },
       1 << 20, 200},
      // A PNG of one color packs a thousand pixels into a byte, and each becomes three floats.
      {"image", "x",
       [png](const fs::path&) {
         return Seeds{png(1),
                      png(3),
                      png(4),
                      "P5\n# by hand\n2 1\n255\n\x33\xff",
                      "P6 1 2 3\n\x01\x02\x03\x03\x02\x01",
                      "P5 1 1 1000\n\x01\xf4",
                      "P2\n2 2 # two rows\n4\n0 1\n2 4\n",
                      "P3 1 1 2 0 1 2"};
       },
       [](const fs::path& folder) { use_values(kit::read_image(folder / "x"), 1); }, 4 << 20, 50'000},
      {"idx", "x",
       [labels, images](const fs::path&) {
         return Seeds{labels, images, gzipped(labels), gzipped(images)};
       },
       [](const fs::path& folder) {
         any_of({[&] { kit::read_idx_labels(folder / "x"); },
                 [&] { use_values(kit::read_idx_images(folder / "x"), 1); }});
       },
       1 << 20, 20'000},
      {"gzip", "x.gz",
       [](const fs::path&) {
         return Seeds{
             gzipped("ein Hund\nzwei\n"), gzipped("") + gzipped("two parts"),
             "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b\xcd\xcc\x53\xf0\x28\xcd\x4b\xe1\xaa\x2a\x4f\xcd\xe4\x02\x00\x53\x10\x7a\x64\x0e\x00\x00\x00"s};
       },
       [](const fs::path& folder) {
         const std::string bytes = kit::read_file(folder / "x.gz");
         if (kit::is_gzip(bytes)) kit::unzipped(bytes, "x.gz");
       },
       1 << 20, 5000},
      {"text", "x.txt",
       [](const fs::path&) {
         return Seeds{"To be, or not to be: that is the question",
                      "na\u00efve \u4e2d\u6587 \xff\xc0\x80 To be, or not to be"s};
       },
       [](const fs::path& folder) {
         const std::string bytes = kit::read_text(folder / "x.txt");
         promise(kit::to_utf8(kit::code_points(bytes)) == bytes, "bytes have changed");
         const kit::TextData text = kit::load_text(folder / "x.txt", 2);
         promise(text.vocabulary.encode(text.vocabulary.decode(text.train)) == text.train,
                 "characters have changed");
       },
       1 << 20, 200},
  };
}

}  // namespace gradus::test
