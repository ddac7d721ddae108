#pragma once
// Checkpoints: everything needed to resume training, in a folder that always holds a complete one. (To
// recompute part of a model in backward: checkpoint() in ops/checkpoint.h.)
//
//   StateDict state;
//   state.add_all("model.", model.state_dict());
//   state.add_all("optimizer.", optimizer.state_dict());
//   state.set("generator", Tensor(generator.get_state()));
//   save_checkpoint("run/checkpoints", state, {{"step", "400"}});
//   ...
//   Checkpoint last = load_checkpoint("run/checkpoints");
//   model.load_state_dict(last.tensors.with_prefix_removed("model."));

#include <cstdint>
#include <string>
#include <vector>

#include "gradus/core/io/safetensors.h"

namespace gradus {

/// The result of load_checkpoint().
struct Checkpoint {
  StateDict tensors;                      // of model, optimizer and anything else saved
  Metadata metadata;                      // notes saved with them
  std::string path;                       // the file it was read from
  std::vector<std::string> skipped = {};  // newer files that were damaged, each with the reason
};

/// Writes the next checkpoint-000001.safetensors, -000002, ... of the folder (made when missing) with a
/// checksum for every tensor and one for all names, shapes and notes; then removes all but the two newest. A
/// program killed at any moment leaves the older ones whole. Returns the new file's path. One program at a
/// time may write to a folder; note keys that start with "gradus." are taken.
std::string save_checkpoint(const std::string& folder, const StateDict& tensors,
                            const Metadata& metadata = {});

/// Reads the newest checkpoint whose checksums all match, and reports which newer ones it skipped and why.
/// Its tensors have the dtypes they were saved with, bf16 and f16 too. Throws when there is none.
Checkpoint load_checkpoint(const std::string& folder);

/// The checkpoints of a folder, newest first, unread; none when the folder does not exist.
std::vector<std::string> list_checkpoints(const std::string& folder);

}  // namespace gradus
