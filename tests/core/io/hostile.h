#pragma once
// Shared by the tests of file readers: handmade files, damaged in every way.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "call.h"
#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"

namespace gradus::test {

/// The old file goes first: some file systems flush a file that is cut to nothing and written again.
inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// `count` bytes of a number, little endian.
inline std::string little_endian(std::uint64_t number, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

/// The message of loading such a file, without the operation and the path; "" if it loads.
inline std::string complaint(Call load, const std::filesystem::path& path) {
  try {
    load();
    return "";
  } catch (const Error& error) {
    const std::string text = error.what(), name = path.string() + ": ";
    const std::size_t at = text.find(name);
    return at == std::string::npos ? "the message does not name the file: " + text
                                   : text.substr(at + name.size());
  }
}

/// Loads every damaged form of `bytes`: cut short at every byte, longer by some, each bit of the first
/// `header` bytes flipped. A load may succeed (a letter of a name has changed) or throw gradus::Error naming
/// the file, nothing else; it never takes more tensor memory than a small multiple of the file.
inline void check_damage(const std::string& bytes, std::size_t header, const std::filesystem::path& path,
                         Call load) {
  const auto check_one = [&](const std::string& damaged, bool must_fail) {
    write_bytes(path, damaged);
    reset_peak_memory();
    const MemoryStats before = memory_stats();
    const std::string text = complaint(load, path);
    if (must_fail) CHECK(text != "");
    CHECK(text.find("does not name the file") == std::string::npos);
    const auto allowed = static_cast<std::int64_t>(4 * damaged.size() + 4096);
    CHECK(memory_stats().peak_bytes - before.live_bytes <= allowed);
    CHECK(memory_stats().live_bytes == before.live_bytes);
  };
  for (std::size_t length = 0; length < bytes.size(); ++length) check_one(bytes.substr(0, length), true);
  for (const std::size_t more : {1, 7, 8, 100}) check_one(bytes + std::string(more, '\0'), true);
  for (std::size_t at = 0; at < header; ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      check_one(damaged, false);
    }
  for (std::size_t at = 0; at < header; ++at)
    for (const int byte : {0x00, 0x20, 0x22, 0x30, 0x5b, 0x7b, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(byte);
      check_one(damaged, false);
    }
}

}  // namespace gradus::test
