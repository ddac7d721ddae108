#include "gradus/nn/attention/attention_maps.h"

#include <algorithm>

#include "gradus/core/detail/format.h"

namespace gradus::nn {

static thread_local AttentionMaps* current_maps = nullptr;

AttentionMaps::AttentionMaps() : before_(current_maps) { current_maps = this; }
AttentionMaps::~AttentionMaps() { current_maps = before_; }
AttentionMaps* AttentionMaps::current() { return current_maps; }

void AttentionMaps::saw_attention(const Module& attention, const Tensor& q, const Tensor& k,
                                  const AttentionOptions& options) {
  const NoGrad guard;
  Map map{attention.path(), attention_weights(q.detach(), k.detach(), options)};
  const auto at =
      std::find_if(maps_.begin(), maps_.end(), [&](const Map& other) { return other.layer == map.layer; });
  if (at != maps_.end())
    *at = std::move(map);
  else
    maps_.push_back(std::move(map));
}

Tensor AttentionMaps::at(const std::string& layer) const {
  std::string seen;
  for (const Map& map : maps_) {
    if (map.layer == layer) return map.weights;
    seen += (seen.empty() ? "" : ", ") + map.layer;
  }
  fail(fmt::format("AttentionMaps: no attention '{}' was called; called: {}", layer,
                   seen.empty() ? "none" : seen));
}

}  // namespace gradus::nn
