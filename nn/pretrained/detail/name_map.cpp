#include "gradus/nn/pretrained/detail/name_map.h"

#include <algorithm>

namespace gradus::nn::pretrained {

void NameMap::plain(const std::string& name, FileTensor file) {
  entries_.push_back({name, {std::move(file)}});
}

void NameMap::transposed(const std::string& name, FileTensor file) {
  entries_.push_back({name, {std::move(file)}, /*transposed=*/true});
}

void NameMap::rows(const std::string& name, std::vector<FileTensor> files) {
  entries_.push_back({name, std::move(files)});
}

void NameMap::row(const std::string& name, FileTensor file) {
  plain(name, std::move(file));
  entries_.back().row = true;
}

void NameMap::linear(const std::string& name, const std::string& file, const LinearNames& o) {
  if (o.transposed)
    transposed(name + ".weight", {file + ".weight", {o.in, o.out}});
  else
    plain(name + ".weight", {file + ".weight", {o.out, o.in}});
  if (o.bias) plain(name + ".bias", {file + ".bias", {o.out}});
}

void NameMap::in_proj(const std::string& name, const std::vector<std::pair<std::string, std::int64_t>>& files,
                      std::int64_t in, bool bias) {
  std::vector<FileTensor> weights, biases;
  for (const auto& [file, out] : files) {
    weights.push_back({file + ".weight", {out, in}});
    biases.push_back({file + ".bias", {out}});
  }
  rows(name + ".in_proj_weight", std::move(weights));
  if (bias) rows(name + ".in_proj_bias", std::move(biases));
}

void NameMap::norm(const std::string& name, const std::string& file, std::int64_t channels, bool bias) {
  plain(name + ".weight", {file + ".weight", {channels}});
  if (bias) plain(name + ".bias", {file + ".bias", {channels}});
}

void NameMap::norm_if_there(const std::string& name, const std::string& file, std::int64_t channels) {
  for (const char* const part : {".weight", ".bias"})
    entries_.push_back({name + part, {{file + part, {channels}}}, false, /*where_present=*/true});
}

void NameMap::same(const std::string& copy, const std::string& original, const char* flag) {
  copies_.push_back({copy, original, flag});
}

void NameMap::ignore(const std::string& ending) { ignored_.push_back(ending); }

void NameMap::alias(const std::string& from, const std::string& to) { aliases_.emplace_back(from, to); }

bool NameMap::is_ignored(std::string_view file) const {
  return std::any_of(ignored_.begin(), ignored_.end(),
                     [&](const std::string& ending) { return file.ends_with(ending); });
}

std::string NameMap::canonical(std::string_view file) const {
  if (file.starts_with(prefix_)) file.remove_prefix(prefix_.size());
  for (const auto& [from, to] : aliases_)
    if (file.ends_with(from)) return std::string(file.substr(0, file.size() - from.size())) + to;
  return std::string(file);
}

}  // namespace gradus::nn::pretrained
