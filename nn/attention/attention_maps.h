#pragma once
// AttentionMaps: records attention weights while a model runs, for pictures of them.

#include <string>
#include <vector>

#include "gradus/nn/module/module.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

/// Records the weights of every MultiheadAttention called on the thread that made it, until it is destroyed;
/// of nested ones, only the inner one records. The weights are those before dropout, [B, H, Tq, Tk], of each
/// module's latest call.
/// `nn::AttentionMaps maps;  model(source, target_in);  maps.at("decoder.layers.0.multihead_attn")`
class [[nodiscard]] AttentionMaps {
 public:
  struct Map {          // of one module
    std::string layer;  // path of the attention: "layers.0.self_attn"
    Tensor weights;     // [B, H, Tq, Tk]
  };

  [[nodiscard]] AttentionMaps();
  ~AttentionMaps();
  AttentionMaps(const AttentionMaps&) = delete;
  AttentionMaps& operator=(const AttentionMaps&) = delete;

  /// In the order of the first calls.
  const std::vector<Map>& all() const { return maps_; }
  /// The weights of one attention; for an unknown path, throws and lists the recorded ones.
  Tensor at(const std::string& layer) const;
  void clear() { maps_.clear(); }

  /// This thread's, or nullptr.
  static AttentionMaps* current();
  void saw_attention(const Module& attention, const Tensor& q, const Tensor& k,
                     const AttentionOptions& options);

 private:
  std::vector<Map> maps_;
  AttentionMaps* before_;
};

}  // namespace gradus::nn
