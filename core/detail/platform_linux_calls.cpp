// Linux's part of platform.h for calls: the exception unwinder walks the stack, addr2line (binutils) reads
// the debug information.

#ifdef __linux__

#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "gradus/core/detail/format.h"
#include "gradus/core/detail/platform.h"

namespace gradus::platform {

std::vector<const void*> linux_calls();
std::vector<SourceLine> linux_source_lines(std::span<const void* const> calls);
const char* linux_why_no_lines();

std::vector<const void*> linux_calls() {
  constexpr std::size_t most = 256;
  std::vector<const void*> calls;
  calls.reserve(most);  // the callback must not throw
  const auto add = [](_Unwind_Context* context, void* found) {
    auto& list = *static_cast<std::vector<const void*>*>(found);
    int before_instruction = 0;
    const _Unwind_Ptr address = _Unwind_GetIPInfo(context, &before_instruction);
    // A return address may belong to the next line already; the byte before it is part of the call.
    if (address != 0) list.push_back(reinterpret_cast<const void*>(address - (before_instruction ? 0 : 1)));
    return list.size() < most ? _URC_NO_REASON : _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(add, &calls);
  return calls;
}

namespace {

/// The program or shared library that holds an address, and how far it was moved when it was loaded.
struct LoadedFile {
  std::uintptr_t address;
  std::string path = {};
  std::uintptr_t moved = 0;
};

LoadedFile file_of(const void* address) {
  LoadedFile file{reinterpret_cast<std::uintptr_t>(address)};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    auto& wanted = *static_cast<LoadedFile*>(data);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& part = info->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || wanted.address - info->dlpi_addr - part.p_vaddr >= part.p_memsz) continue;
      wanted.path = info->dlpi_name;
      wanted.moved = info->dlpi_addr;
      return 1;
    }
    return 0;
  };
  if (dl_iterate_phdr(look, &file) != 0 && file.path.empty()) {
    std::error_code failed;
    file.path = std::filesystem::read_symlink("/proc/self/exe", failed);
  }
  return file;
}

/// A library of the system such as libc, which may have debug information, too.
bool of_system(std::string_view path) { return path.starts_with("/lib") || path.starts_with("/usr/lib"); }

/// The output of a shell command, by lines; empty if it cannot be run.
std::vector<std::string> output_of(const std::string& command) {
  std::vector<std::string> lines;
  std::FILE* const output = popen(command.c_str(), "r");
  if (!output) return lines;
  std::string line;
  for (int c = std::getc(output); c != EOF; c = std::getc(output)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    lines.push_back(std::move(line));
    line.clear();
  }
  pclose(output);
  return lines;
}

/// A text as one word of a shell command.
std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// "f(int)" is "f"; "main::{lambda(int)#1}::operator()(int) const" ends after "operator()".
std::string without_parameters(std::string function) {
  int depth = 0;
  for (std::size_t i = function.rfind(')'); i != function.npos && i > 0; --i) {
    if (function[i] == ')') ++depth;
    if (function[i] == '(' && --depth == 0) return function.substr(0, i);
  }
  return function;
}

/// A line of addr2line such as "/home/ada/train.cpp:42 (discriminator 2)"; nothing for "??:0".
std::optional<SourceLine> parse(std::string function, std::string_view place) {
  const std::size_t colon = place.rfind(':');
  if (colon == place.npos || place.starts_with('?')) return {};
  const std::filesystem::path file = place.substr(0, colon);
  SourceLine found{without_parameters(std::move(function)), file.lexically_normal().string(), 0};
  std::from_chars(place.data() + colon + 1, place.data() + place.size(), found.line);
  if (found.line < 1) return {};
  return found;
}

}  // namespace

std::vector<SourceLine> linux_source_lines(std::span<const void* const> calls) {
  std::vector<SourceLine> lines;
  for (std::size_t i = 0; i < calls.size();) {
    // Neighbours of one file in one go: reading its debug information takes long.
    const LoadedFile file = file_of(calls[i]);
    std::string command = "addr2line -Cfia -e " + shell_word(file.path);
    for (; i < calls.size(); ++i) {
      const LoadedFile next = file_of(calls[i]);
      if (next.path != file.path) break;
      command += fmt::format(" {:#x}", next.address - next.moved);
    }
    if (file.path.empty() || of_system(file.path)) continue;
    // Each address, and below it two lines for each function there, the innermost inlined one first.
    std::string function;
    for (std::string& line : output_of(command + " 2>/dev/null")) {
      if (function.empty()) {
        if (!line.starts_with("0x")) function = std::move(line);
        continue;
      }
      if (auto found = parse(function, line)) lines.push_back(std::move(*found));
      if (function == "main") return lines;
      function.clear();
    }
  }
  return lines;
}

const char* linux_why_no_lines() {
  return std::system("command -v addr2line >/dev/null 2>&1") == 0
             ? "the program has no debug information: compile it with -g"
             : "addr2line is not installed: it is part of binutils";
}

}  // namespace gradus::platform

#endif
