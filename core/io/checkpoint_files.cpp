// A checkpoint is a safetensors file with two kinds of notes added:
//   gradus.crc32.NAME   CRC-32 of the bytes of tensor NAME
//   gradus.crc32        CRC-32 of everything else: names, types, shapes and all other notes
// Disks and copies can fail silently; a run resumed from damaged weights would not notice. One whose tensors
// are in other files (checkpoint_parts.h) has notes gradus.parts, their number, and gradus.part.1, .2, ...,
// the gradus.crc32 of each.

#include "gradus/core/io/checkpoint_files.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/checkpoint_parts.h"
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
constexpr const char* kParts = "gradus.parts";
constexpr const char* kPart = "gradus.part.";
constexpr int kMostParts = 1 << 20;
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

/// The number in "checkpoint-000012.safetensors", or in "checkpoint-000012.part-1-of-4.safetensors" if it is
/// asked for; nothing for other names.
std::optional<std::int64_t> number_of(const std::string& name, bool of_part = false) {
  const std::string prefix = kPrefix, suffix = kSuffix;
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() <= prefix.size() + suffix.size())
    return std::nullopt;
  std::string digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  const std::size_t dot = digits.find(".part-");
  if ((dot != std::string::npos) != of_part) return std::nullopt;
  digits = digits.substr(0, dot);
  if (digits.size() < 6 || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(digits);
}

std::string path_of(const std::string& folder, std::int64_t number, const std::string& part = "") {
  return (fs::path(folder) / fmt::format("{}{:06}{}{}", kPrefix, number, part, kSuffix)).string();
}
std::string part_path(const std::string& folder, std::int64_t number, int part, int parts) {
  return path_of(folder, number, fmt::format(".part-{}-of-{}", part, parts));
}

struct File {
  std::int64_t number;
  std::string path;
};

/// Newest first.
std::vector<File> files_of(const char* op, const std::string& folder, bool parts = false) {
  std::vector<File> files;
  for (const std::string& name : io::names_in(op, folder))
    if (const auto number = number_of(name, parts))
      files.push_back({*number, (fs::path(folder) / name).string()});
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.number > b.number; });
  return files;
}

/// Removes old checkpoints, first their parts, and parts of those that were never completed. What cannot be
/// removed waits for the next time: the save itself has succeeded.
void clean(const std::string& folder) {
  try {
    const std::vector<File> files = files_of("save_checkpoint", folder);
    for (const File& part : files_of("save_checkpoint", folder, true)) {
      const auto of = std::find_if(files.begin(), files.end(),
                                   [&](const File& file) { return file.number == part.number; });
      if (of == files.end() || of - files.begin() >= static_cast<std::ptrdiff_t>(kKept))
        unlink(part.path.c_str());
    }
    for (std::size_t i = kKept; i < files.size(); ++i) unlink(files[i].path.c_str());
  } catch (const std::exception&) {
  }
}

/// Throws unless every checksum is there and holds.
void verify(const std::string& file, const StateDict& tensors, const Metadata& notes) {
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
}

/// The notes with all checksums.
Metadata with_checksums(const StateDict& tensors, Metadata notes) {
  for (const auto& [name, tensor] : tensors) {
    check(tensor.defined(), "save_checkpoint: tensor {} is undefined", io::quote(name));
    notes[fmt::format("{}.{}", kChecksum, name)] = checksum(tensor);
  }
  notes[kChecksum] = checksum(tensors, notes);
  return notes;
}

void expect_own_notes(const Metadata& metadata) {
  for (const auto& [key, value] : metadata)
    check(!key.starts_with(kOwnNotes), "save_checkpoint: note {} starts with '{}', which is taken",
          io::quote(key), kOwnNotes);
}

/// The tensors of all parts that the notes of a checkpoint's file name.
StateDict tensors_of_parts(const File& file, const Metadata& notes) {
  const auto note = [&](const Metadata& from, const std::string& key, const std::string& path) {
    const auto found = from.find(key);
    check_input(found != from.end(), "load_checkpoint: {} has no note {}", io::printable(path), key);
    return found->second;
  };
  const std::string count = note(notes, kParts, file.path);
  const int parts = count.size() < 8 && count.find_first_not_of("0123456789") == std::string::npos
                        ? std::atoi(count.c_str())
                        : 0;
  check_input(parts >= 1 && parts <= kMostParts, "load_checkpoint: {} has '{}' parts",
              io::printable(file.path), io::printable(count));
  StateDict all;
  for (int part = 1; part <= parts; ++part) {
    const std::string path = part_path(fs::path(file.path).parent_path().string(), file.number, part, parts);
    Metadata notes_of_part;
    const StateDict tensors = load_safetensors(path, &notes_of_part, Halves::keep);
    verify(path, tensors, notes_of_part);
    check_input(note(notes_of_part, kChecksum, path) == note(notes, kPart + std::to_string(part), file.path),
                "load_checkpoint: {} is a part of another checkpoint", io::printable(path));
    for (const auto& [name, tensor] : tensors) {
      check_input(!all.contains(name), "load_checkpoint: {}: tensor {} is in another part too",
                  io::printable(path), io::quote(name));
      all.set(name, tensor);
    }
  }
  return io::join_pieces("load_checkpoint", all);
}

}  // namespace

std::string save_checkpoint(const std::string& folder, const StateDict& tensors, const Metadata& metadata) {
  expect_own_notes(metadata);
  const std::string path = path_of(folder, io::next_checkpoint(folder));
  save_safetensors(path, tensors, with_checksums(tensors, metadata));
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
      result.tensors = load_safetensors(file.path, &result.metadata, Halves::keep);
      verify(file.path, result.tensors, result.metadata);
      if (result.metadata.contains(kParts)) result.tensors = tensors_of_parts(file, result.metadata);
      std::erase_if(result.metadata, [](const auto& note) { return note.first.starts_with(kOwnNotes); });
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

namespace io {

std::int64_t next_checkpoint(const std::string& folder) {
  make_folder("save_checkpoint", folder);
  const std::vector<File> before = files_of("save_checkpoint", folder);
  return before.empty() ? 1 : before[0].number + 1;
}

std::string checkpoint_path(const std::string& folder, std::int64_t number) {
  return path_of(folder, number);
}

std::uint32_t save_checkpoint_part(const std::string& folder, std::int64_t number, int part, int parts,
                                   const StateDict& tensors) {
  const Metadata notes = with_checksums(tensors, {});
  save_safetensors(part_path(folder, number, part, parts), tensors, notes);
  return static_cast<std::uint32_t>(std::stoul(notes.at(kChecksum), nullptr, 16));
}

void complete_checkpoint(const std::string& folder, std::int64_t number,
                         const std::vector<std::uint32_t>& checksums, const Metadata& metadata) {
  expect_own_notes(metadata);
  Metadata notes = metadata;
  const int parts = static_cast<int>(checksums.size());
  notes[kParts] = std::to_string(parts);
  for (int part = 1; part <= parts; ++part) {
    const std::string path = part_path(folder, number, part, parts);
    check_input(exists("save_checkpoint", path),
                "save_checkpoint: {} is not there, which another process has written: all of them need the "
                "same folder, on a file system that their machines share",
                printable(path));
    notes[kPart + std::to_string(part)] = hex(checksums[static_cast<std::size_t>(part - 1)]);
  }
  save_safetensors(checkpoint_path(folder, number), {}, with_checksums({}, notes));
  clean(folder);
}

}  // namespace io

}  // namespace gradus
