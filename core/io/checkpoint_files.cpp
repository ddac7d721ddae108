// A checkpoint is a safetensors file with two kinds of notes added:
//   gradus.crc32.NAME   CRC-32 of the bytes of tensor NAME
//   gradus.crc32        CRC-32 of everything else: names, types, shapes and all other notes
// Disks and copies can fail silently; a run resumed from damaged weights would not notice.

#include "gradus/core/io/checkpoint_files.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/crc32.h"
#include "gradus/core/io/detail/input_file.h"
#include "gradus/core/io/printable.h"

namespace gradus {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "checkpoint-";
constexpr const char* kSuffix = ".safetensors";
constexpr const char* kOwnNotes = "gradus.";
constexpr const char* kChecksum = "gradus.crc32";
constexpr std::size_t kKept = 2;

std::string hex(std::uint32_t crc) { return fmt::format("{:08x}", crc); }

std::string checksum(const Tensor& tensor) {
  const Array dense = tensor.array().contiguous();
  return hex(io::crc32(dense.raw(), static_cast<std::size_t>(dense.numel()) * size_of(dense.dtype())));
}

/// Of everything but the values. Length prefixes distinguish ("ab", "c") from ("a", "bc").
std::string checksum(const StateDict& tensors, const Metadata& notes) {
  std::string text;
  for (const auto& [name, tensor] : tensors)
    text += fmt::format("{}:{} {} {}\n", name.size(), name, tensor.dtype(), tensor.shape());
  for (const auto& [key, value] : notes)
    if (key != kChecksum) text += fmt::format("{}:{} {}:{}\n", key.size(), key, value.size(), value);
  return hex(io::crc32(text.data(), text.size()));
}

/// The number in "checkpoint-000012.safetensors"; nothing for other names.
std::optional<std::int64_t> number_of(const std::string& name) {
  const std::string prefix = kPrefix, suffix = kSuffix;
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  const std::string digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  if (digits.size() < 6 || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(digits);
}

struct File {
  std::int64_t number;
  std::string path;
};

/// Newest first.
std::vector<File> files_of(const char* op, const std::string& folder) {
  std::vector<File> files;
  for (const std::string& name : io::names_in(op, folder))
    if (const auto number = number_of(name)) files.push_back({*number, (fs::path(folder) / name).string()});
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.number > b.number; });
  return files;
}

/// Removes old checkpoints. What cannot be removed waits for the next time: the save itself has succeeded.
void clean(const std::string& folder) {
  try {
    const std::vector<File> files = files_of("save_checkpoint", folder);
    for (std::size_t i = kKept; i < files.size(); ++i) unlink(files[i].path.c_str());
  } catch (const std::exception&) {
  }
}

/// Throws unless every checksum is there and holds; leaves only the caller's own notes.
void verify(const std::string& file, const StateDict& tensors, Metadata& notes) {
  const std::string path = io::printable(file);
  const auto expect = [&](const std::string& key, const std::string& found, const std::string& what) {
    const auto note = notes.find(key);
    check_input(note != notes.end(), "load_checkpoint: {}: {} has no checksum", path, what);
    check_input(note->second == found, "load_checkpoint: {}: {} is damaged: its checksum is {}, expects {}",
                path, what, found, note->second);
  };
  expect(kChecksum, checksum(tensors, notes), "the header");
  for (const auto& [name, tensor] : tensors)
    expect(fmt::format("{}.{}", kChecksum, name), checksum(tensor), "tensor " + io::quote(name));
  std::erase_if(notes, [](const auto& note) { return note.first.starts_with(kOwnNotes); });
}

}  // namespace

std::string save_checkpoint(const std::string& folder, const StateDict& tensors, const Metadata& metadata) {
  io::make_folder("save_checkpoint", folder);
  Metadata notes = metadata;
  for (const auto& [key, value] : metadata)
    check(!key.starts_with(kOwnNotes), "save_checkpoint: note {} starts with '{}', which is taken",
          io::quote(key), kOwnNotes);
  for (const auto& [name, tensor] : tensors) {
    check(tensor.defined(), "save_checkpoint: tensor {} is undefined", io::quote(name));
    notes[fmt::format("{}.{}", kChecksum, name)] = checksum(tensor);
  }
  notes[kChecksum] = checksum(tensors, notes);

  const std::vector<File> before = files_of("save_checkpoint", folder);
  const std::int64_t number = before.empty() ? 1 : before[0].number + 1;
  const std::string path = (fs::path(folder) / fmt::format("{}{:06}{}", kPrefix, number, kSuffix)).string();
  save_safetensors(path, tensors, notes);
  clean(folder);
  return path;
}

Checkpoint load_checkpoint(const std::string& folder) {
  const std::vector<File> files = files_of("load_checkpoint", folder);
  check_input(!files.empty(), "load_checkpoint: {} holds no checkpoint", io::printable(folder));
  Checkpoint result;
  for (const File& file : files) {
    try {
      result.metadata.clear();
      result.tensors = load_safetensors(file.path, &result.metadata);
      verify(file.path, result.tensors, result.metadata);
      result.path = file.path;
      return result;
    } catch (const Error& error) {
      result.skipped.push_back(error.what());
    }
  }
  std::string reasons;
  for (const std::string& reason : result.skipped) reasons += "\n  " + reason;
  fail_input_with("load_checkpoint: {} holds no whole checkpoint:{}", io::printable(folder), reasons);
}

std::vector<std::string> list_checkpoints(const std::string& folder) {
  std::vector<std::string> paths;
  for (const File& file : files_of("list_checkpoints", folder)) paths.push_back(file.path);
  return paths;
}

}  // namespace gradus
