#include "reliability/readers.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "gradus/core/error.h"
#include "reliability/reader_lists.h"

namespace gradus::test {

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = [] {
    std::vector<Reader> list;
    for (const auto part : {readers_of_tensors, readers_of_models, readers_of_tokenizers, readers_of_data,
                            readers_of_records, readers_of_words})
      for (Reader& reader : part()) list.push_back(std::move(reader));
    return list;
  }();
  return all;
}

const Reader& reader_named(std::string_view name) {
  std::string names;
  for (const Reader& reader : readers()) {
    if (reader.name == name) return reader;
    names += " " + reader.name;
  }
  throw std::runtime_error("no reader is called '" + std::string(name) + "'; there are" + names);
}

Prepared::Prepared(const Reader& reader, std::filesystem::path folder)
    : reader_(reader), folder_(std::move(folder)) {
  std::filesystem::create_directories((folder_ / reader_.file).parent_path());
  seeds_ = reader_.prepare(folder_);
}

void Prepared::write(std::string_view bytes) const { put(folder_ / reader_.file, bytes); }

bool Prepared::read() const {
  try {
    reader_.read(folder_);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The old file goes first: some file systems flush a file that is cut to nothing and written again.
void put(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void promise(bool kept, const char* what) {
  if (!kept) throw std::logic_error(what);
}

}  // namespace gradus::test
