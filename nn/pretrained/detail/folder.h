#pragma once
// Loads models from folders and saves them, for each model's load_pretrained and save_pretrained:
//
//   Bert Bert::load_pretrained(const std::string& folder, const PretrainedOptions& given) {
//     pretrained::Reader reader("Bert::load_pretrained", folder, given);
//     const BertOptions options = options_of(reader.config, given);
//     reader.expect_layers("num_hidden_layers", options.layers, "bert.", "encoder.layer.");
//     return reader.load(names_of(options), [&] { return Bert(options); });
//   }
//   void Bert::save_pretrained(const std::string& folder, const SavePretrainedOptions& given) const {
//     pretrained::save("Bert::save_pretrained", folder, *this, names_of(options_), config_of(options_),
//     given);
//   }

#include <functional>
#include <map>
#include <string>

#include "gradus/core/random/random.h"
#include "gradus/nn/detail/no_random_init.h"
#include "gradus/nn/module/module.h"
#include "gradus/nn/pretrained/detail/config.h"
#include "gradus/nn/pretrained/detail/name_map.h"
#include "gradus/nn/pretrained/pretrained.h"

namespace gradus::nn::pretrained {

/// Reads a folder.
class Reader {
 public:
  Reader(const char* caller, const std::string& folder, const PretrainedOptions& given);

  Config config;

  /// Whether the weights have a tensor, with or without the map's prefix.
  bool contains(const NameMap& names, const std::string& file) const;
  /// Throws unless the weights have tensors of exactly the layers 0 .. count - 1, whose names start with
  /// `layers` and a number, with or without `prefix` before them: "config.json says n_layer 12, but the
  /// weights have h.0 to h.5". Call it before making a NameMap with `count` layers.
  void expect_layers(const char* key, std::int64_t count, const std::string& prefix,
                     const std::string& layers) const;

  /// Returns the model made by make(), with the weights, in eval mode. Checks all names and shapes before
  /// making it. Leaves the default generator unchanged.
  template <class Make>
  auto load(const NameMap& names, const Make& make) {
    check_sizes(names);
    const KeptRandom kept;
    const NoRandomInit guard;
    auto model = config.explain(make);
    load_into(model, names);
    model.eval();
    return model;
  }

 private:
  struct KeptRandom {
    Generator::State state = default_generator().state();
    ~KeptRandom() { default_generator().set_state(state); }
  };
  struct Given {
    std::string name;  // in the file
    Tensor values;
  };
  using Tensors = std::map<std::string, Given>;  // by canonical name

  void check_sizes(const NameMap& names);
  void load_into(const Module& model, const NameMap& names);
  void name_all(const NameMap& names);
  void expect_copies(const NameMap& names) const;
  std::string as_in_file(const NameMap& names, const std::string& name) const;
  struct Problems;

  std::string label_;  // "GPT::load_pretrained: gpt2/model.safetensors"
  StateDict weights_;
  Tensors tensors_;
  bool has_prefix_ = false;
};

/// Writes config.json and weights under temporary names, then renames all files. Another program never finds
/// the config.json of one model with the weights of another: a save that is killed during the renaming leaves
/// no config.json.
void save(const char* caller, const std::string& folder, const Module& model, const NameMap& names,
          const Json& config, const SavePretrainedOptions& options);

}  // namespace gradus::nn::pretrained
