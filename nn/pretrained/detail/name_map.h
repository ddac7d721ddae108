#pragma once
// NameMap: the names and shapes of a model's parameters in a file, one description for loading and saving.
//
//   NameMap names;
//   names.optional_prefix("transformer.");  // missing in files of the model without its head
//   names.plain("token_embedding.weight", {"transformer.wte.weight", {vocab, d}});
//   names.linear("layers.0.linear1", "transformer.h.0.mlp.c_fc", {.out = ff, .in = d, .transposed = true});
//   names.same("lm_head.weight", "transformer.wte.weight");
//   names.ignore(".attn.bias");
//
// A parameter that is not named here keeps gradus' name in files.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradus/core/io/state_dict.h"

namespace gradus::nn::pretrained {

/// A tensor in a file.
struct FileTensor {
  std::string name;
  Shape shape;
};

struct LinearNames {
  std::int64_t out = 0, in = 0;
  bool bias = true;
  bool transposed = false;  // weight [in, out] in the file: GPT-2's Conv1D
};

class NameMap {
 public:
  /// A parameter with another name in the file.
  void plain(const std::string& name, FileTensor file);
  /// A matrix that is transposed in the file.
  void transposed(const std::string& name, FileTensor file);
  /// A parameter that is several tensors in the file, stacked by rows: queries, keys and values.
  void rows(const std::string& name, std::vector<FileTensor> files);

  /// A vector [C] that is a matrix [1, C] in the file.
  void row(const std::string& name, FileTensor file);

  /// name.weight and name.bias of a Linear.
  void linear(const std::string& name, const std::string& file, const LinearNames& options);
  /// name.in_proj_weight and _bias of a MultiheadAttention, whose queries, keys and values are separate
  /// tensors in the file, with the given rows and `in` columns.
  void in_proj(const std::string& name, const std::vector<std::pair<std::string, std::int64_t>>& files,
               std::int64_t in, bool bias);
  /// name.weight and name.bias of a norm; norm_if_there names those of them that the model has.
  void norm(const std::string& name, const std::string& file, std::int64_t channels, bool bias);
  void norm_if_there(const std::string& name, const std::string& file, std::int64_t channels);

  /// A second copy of a tensor that a file may contain, equal to the first, else it is an error. Not saved.
  /// `flag` is the key of config.json that must be false if they differ.
  void same(const std::string& copy, const std::string& original, const char* flag = "");
  /// Ignores tensors whose names end in `ending`.
  void ignore(const std::string& ending);
  /// Names that end in `from` are read as if they ended in `to`: ".gamma" as ".weight".
  void alias(const std::string& from, const std::string& to);
  /// A prefix of names that may be missing from all names in a file.
  void optional_prefix(const std::string& prefix) { prefix_ = prefix; }

  struct Entry {
    std::string name;  // of the parameter
    std::vector<FileTensor> files;
    bool transposed = false;
    bool where_present = false;  // only if the model has it
    bool row = false;            // [1, C] in the file
  };
  const std::vector<Entry>& entries() const { return entries_; }
  struct Copy {
    std::string copy, original;
    const char* flag;
  };
  const std::vector<Copy>& copies() const { return copies_; }
  bool is_ignored(std::string_view file) const;
  /// The name without prefix and aliases: two names of one tensor have the same canonical name.
  std::string canonical(std::string_view file) const;
  const std::string& prefix() const { return prefix_; }

 private:
  std::vector<Entry> entries_;
  std::vector<Copy> copies_;
  std::vector<std::pair<std::string, std::string>> aliases_;
  std::vector<std::string> ignored_;
  std::string prefix_;
};

}  // namespace gradus::nn::pretrained
