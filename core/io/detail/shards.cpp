#include "gradus/core/io/detail/shards.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/detail/array_bytes.h"
#include "gradus/core/io/detail/input_file.h"
#include "gradus/core/io/detail/write_safetensors.h"
#include "gradus/core/io/printable.h"

namespace gradus::io {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kLargestIndex = 100'000'000;
constexpr std::size_t kMostShards = 500;  // all are open at once

struct Index {
  std::unordered_map<std::string, std::string> file_of;  // by tensor
  std::set<std::string> files;
};

/// Only a file in the index's folder.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

/// Parses the JSON text incrementally for the entries of weight_map; ignores everything else.
class IndexReader final : public nlohmann::json_sax<json> {
 public:
  IndexReader(const std::string& label, std::size_t bytes) : label_(label), bytes_(bytes) {}

  Index take() {
    check_input(seen_, "{}: expects an object 'weight_map'", label_);
    return std::move(index_);
  }

  bool start_object(std::size_t) override {
    if (depth_ != 0 && !(depth_ == 1 && key_ == kMap)) return value("an object"), enter();
    in_map_ = depth_ == 1;
    seen_ = seen_ || in_map_;
    return enter();
  }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return value("a list"), enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& key) override {
    if (depth_ <= 2) key_ = key;
    return true;
  }
  bool string(string_t& text) override {
    if (!in_map_) return value("a string");
    check_input(is_plain_name(text),
                "{}: weight_map: {}: expects the name of a file in the same folder, got {}", label_,
                quote(key_), quote(text));
    check_input(index_.file_of.emplace(key_, text).second, "{}: weight_map: {} appears twice", label_,
                quote(key_));
    index_.files.insert(text);
    return true;
  }
  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("true or false"); }
  bool number_integer(number_integer_t) override { return value("a number"); }
  bool number_unsigned(number_unsigned_t) override { return value("a number"); }
  bool number_float(number_float_t, const string_t&) override { return value("a number"); }
  bool binary(binary_t&) override { return value("bytes"); }  // never run: JSON text has none
  bool parse_error(std::size_t at, const std::string&, const json::exception&) override {
    fail_input_with("{}: not JSON at its byte {}{}", label_, at,
                    at > bytes_ ? ", its end: is it cut short?" : "");
  }

 private:
  /// A value that is none of the map's entries: none may stand in their place.
  bool value(const char* what) const {
    check_input(depth_ != 0, "{}: expects a JSON object, got {}", label_, what);
    check_input(depth_ != 1 || key_ != kMap, "{}: expects an object 'weight_map', got {}", label_, what);
    check_input(!in_map_, "{}: weight_map: {}: expects the name of a file, got {}", label_, quote(key_),
                what);
    return true;
  }
  bool enter() { return ++depth_, true; }
  bool leave() {
    if (--depth_ == 1) in_map_ = false;
    return true;
  }

  static constexpr const char* kMap = "weight_map";
  const std::string& label_;
  const std::size_t bytes_;
  Index index_;
  std::size_t depth_ = 0;
  std::string key_;
  bool in_map_ = false, seen_ = false;
};

Index read_index(const InputFile& file) {
  check_input(file.size() <= kLargestIndex, "{}: has {} bytes, expects at most {}", file.label(), file.size(),
              kLargestIndex);
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  // The parser takes a zero byte for the end of the text.
  const std::size_t zero = text.find('\0');
  check_input(zero == std::string::npos, "{}: not JSON at its byte {}", file.label(), zero + 1);
  IndexReader reader(file.label(), text.size());
  json::sax_parse(text, &reader);
  return reader.take();
}

void expect_files(const std::string& label, const fs::path& folder, const Index& index) {
  std::string missing;
  for (const std::string& name : index.files) {
    std::error_code ignored;
    if (!fs::exists(folder / name, ignored)) missing += (missing.empty() ? "" : ", ") + quote(name);
  }
  check_input(missing.empty(), "{}: names files that are not in its folder: {}", label, missing);
}

std::uint64_t bytes_of(const Tensor& tensor) {
  return tensor.defined() ? io::bytes_of(tensor.shape(), tensor.dtype()).value() : 0;
}

/// For each tensor, which file it goes into: the next one where it does not fit.
std::vector<std::size_t> shards_of(const StateDict& tensors, std::uint64_t max_bytes) {
  std::vector<std::size_t> shards;
  std::uint64_t used = 0;
  std::size_t shard = 0;
  for (const auto& [name, tensor] : tensors) {
    if (used > 0 && bytes_of(tensor) > max_bytes - std::min(used, max_bytes)) ++shard, used = 0;
    used += bytes_of(tensor);
    shards.push_back(shard);
  }
  return shards;
}

/// "model-00001-of-00002.safetensors"
bool is_shard_name(const std::string& name) {
  constexpr std::string_view form = "model-#####-of-#####.safetensors";
  return name.size() == form.size() && std::equal(name.begin(), name.end(), form.begin(), [](char c, char f) {
           return f == '#' ? c >= '0' && c <= '9' : c == f;
         });
}

}  // namespace

StateDict load_shards(const std::string& path, Metadata* metadata, Halves halves,
                      StateDict (*load)(const std::string& path, Metadata* metadata, Halves halves)) {
  const InputFile file("load_safetensors", path);
  Index index = read_index(file);
  const fs::path folder = fs::path(path).parent_path();
  expect_files(file.label(), folder, index);
  StateDict tensors;
  Metadata notes;
  for (const std::string& name : index.files) {
    Metadata more;
    for (const auto& [tensor, values] : load((folder / name).string(), &more, halves)) {
      const auto entry = index.file_of.find(tensor);
      check_input(entry == index.file_of.end() || entry->second == name,
                  "{}: weight_map: {} is in {}, but the map says {}", file.label(), quote(tensor),
                  quote(name), entry == index.file_of.end() ? "" : quote(entry->second));
      check_input(!tensors.contains(tensor), "{}: tensor {} is in {} and in another of its files",
                  file.label(), quote(tensor), quote(name));
      tensors.set(tensor, values);
    }
    notes.merge(more);
  }
  for (const auto& [tensor, name] : std::map(index.file_of.begin(), index.file_of.end()))
    check_input(tensors.contains(tensor), "{}: weight_map: {} is not in {}", file.label(), quote(tensor),
                quote(name));
  if (metadata) *metadata = std::move(notes);
  return tensors;
}

WeightFiles::WeightFiles(const char* op, const std::string& folder, const StateDict& tensors,
                         const Metadata& metadata, std::uint64_t max_bytes)
    : op_(op), folder_(folder) {
  const std::vector<std::size_t> shard_of = shards_of(tensors, max_bytes);
  const std::size_t shards = shard_of.empty() ? 1 : shard_of.back() + 1;
  check(shards <= kMostShards, "{}: files of {} bytes would be {}, expects at most {}: allow larger ones", op,
        max_bytes, shards, kMostShards);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    StateDict part;
    std::size_t at = 0;
    for (const auto& [name, tensor] : tensors)
      if (shard_of[at++] == shard) part.set(name, tensor);
    const std::string name = shards == 1 ? std::string(kWeightsFile)
                                         : fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards);
    AtomicFile& file = open(name);
    write_safetensors(file, fmt::format("{}: {}", op, printable((fs::path(folder) / name).string())), part,
                      metadata);
  }
  if (shards > 1) write_index(tensors, shard_of);
}

AtomicFile& WeightFiles::open(const std::string& name) {
  names_.push_back(name);
  return files_.emplace_back(op_, (fs::path(folder_) / name).string());
}

void WeightFiles::write_index(const StateDict& tensors, const std::vector<std::size_t>& shard_of) {
  std::uint64_t total = 0;
  std::string map;
  std::size_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    total += bytes_of(tensor);
    map +=
        fmt::format("{}\n    {}: \"{}\"", map.empty() ? "" : ",", json(name).dump(), names_[shard_of[at++]]);
  }
  const std::string text =
      fmt::format("{{\n  \"metadata\": {{\n    \"total_size\": {}\n  }},\n  \"weight_map\": {{{}\n  }}\n}}\n",
                  total, map);
  open(kIndexFile).write(text.data(), text.size());
}

void WeightFiles::commit() {
  for (AtomicFile& file : files_) file.commit();
  bool removed = false;
  for (const std::string& name : names_in(op_, folder_)) {
    const bool weights = name == kWeightsFile || name == kIndexFile || is_shard_name(name);
    if (weights && std::find(names_.begin(), names_.end(), name) == names_.end())
      removed |= unlink((fs::path(folder_) / name).c_str()) == 0;
  }
  // What a config.json describes must not come back next to it after a loss of power.
  if (removed) flush_folder(fmt::format("{}: {}", op_, printable(folder_)), folder_);
}

}  // namespace gradus::io
