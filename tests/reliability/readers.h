#pragma once
// Every reader of input that a program does not control, as one function of a file's bytes. The tests damage
// these files (damaged_files_test.cpp), and libFuzzer searches for bytes that break a reader (fuzz.cpp).

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::test {

struct Reader {
  std::string name;  // "npy", "config.llama"
  std::string file;  // the file that varies, in the folder of this reader
  /// Writes the other files of the folder; returns whole files to begin with.
  std::function<std::vector<std::string>(const std::filesystem::path& folder)> prepare;
  /// Reads the folder. Throws Error for what is not right, and nothing else; std::logic_error if what was
  /// read breaks a promise.
  std::function<void(const std::filesystem::path& folder)> read;
  // The most memory: this many bytes, and as many for each byte of the file.
  std::size_t bytes = 0, bytes_per_byte = 0;
  // A library that it uses ends the program where memory runs out: destructors of nlohmann::json's trees need
  // memory, and those of SentencePiece's models.
  bool needs_memory = false;
};

const std::vector<Reader>& readers();
/// Throws std::runtime_error, listing all, if none has this name.
const Reader& reader_named(std::string_view name);

/// A reader with its folder.
class Prepared {
 public:
  Prepared(const Reader& reader, std::filesystem::path folder);
  const std::vector<std::string>& seeds() const& { return seeds_; }
  /// The file with these bytes.
  void write(std::string_view bytes) const;
  /// Whether it was read; false where that threw Error.
  bool read() const;
  const Reader& reader() const { return reader_; }
  const std::filesystem::path& folder() const& { return folder_; }

 private:
  const Reader& reader_;
  std::filesystem::path folder_;
  std::vector<std::string> seeds_;
};

}  // namespace gradus::test
