#pragma once
// A placement's norms and their effect on the stream in forward and on the gradient in backward, block by
// block, for a figure.
//
//   const Trace trace = trace_of(session.models()[0], session.settings());
//   trace.stream[12];                   // |x|^2 / d after block 12
//   trace.blocks[5].ffn.on_stream;      // in block 6: |gradient| below the norm on the stream / above it

#include <cstdint>
#include <string>
#include <vector>

#include "browser/request.h"
#include "browser/session.h"

namespace gradus::browser {

/// The positions of norms around each branch f of a block; the shortcut has weight 1.
struct NormPlaces {
  std::string placement;
  bool before = false, after = false;  // on the branch
  bool on_stream = false;              // on the sum of shortcut and branch
};
/// The placements that can be traced, Pre-LN and Post-LN first.
std::vector<NormPlaces> traced_placements();

/// The gradient's path back through one branch and its shortcut: |dL/d.| below each part divided by that
/// above it. The shortcut passes its gradient on unchanged. A missing norm has 1.
struct BranchTrace {
  double on_stream = 1, after = 1, f = 1, before = 1;
  double branch = 1;  // the branch's contribution to the gradient / gradient at the sum
  double all = 1;     // gradient below / gradient above
};
struct BlockTrace {
  BranchTrace attention, ffn;
};

/// One model on the first batch of its training.
struct Trace {
  NormPlaces norms;
  std::vector<double> stream;      // |x_l|^2 / d, mean over tokens; l = 0: input of block 1
  std::vector<double> gradient;    // |dL/dx_l|, over the whole batch
  std::vector<BlockTrace> blocks;  // l = 1..L
};

/// Throws if the model's placement cannot be traced.
Trace trace_of(const Model& model, const Settings& settings);

/// Both models' traces in JSON; and the entries of a page's menus.
Json answer_trace(const Session& session);
Json answer_blocks(const Json& request);

}  // namespace gradus::browser
