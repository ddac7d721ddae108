#pragma once
// Checkpoints of many ranks: written by all together, read by any number of them.
//
//   StateDict state;
//   state.add_all("model.", gpt.state_dict());
//   state.add_all("optimizer.", opt.pieces());            // of a Sharded; state_dict() of another
//   state.add_all("loader.", loader.state_dict());
//   state.add_all("parallel.", parallel.state_dict());
//   distributed::save_checkpoint(world, "run/checkpoints", state);

#include <string>

#include "gradus/core/io/checkpoint_files.h"
#include "gradus/distributed/communicator.h"

namespace gradus::distributed {

/// Like gradus::save_checkpoint(), by all ranks together: each writes an equal part of the tensors, and its
/// pieces of a sharded optimizer's state, to a file of its own; once all are on disk, rank 0 completes the
/// checkpoint. A rank that is killed at any moment leaves the ones before it whole. All ranks pass the same
/// notes and, but for pieces, the same tensors; throws on all of them, naming the first that differs, if not.
/// The folder is on a file system that all machines share. Returns the path of the checkpoint.
std::string save_checkpoint(const Communicator& world, const std::string& folder, const StateDict& state,
                            const Metadata& metadata = {});

/// gradus::load_checkpoint() on every rank, which reads what any number of ranks have written; throws unless
/// all read the same.
Checkpoint load_checkpoint(const Communicator& world, const std::string& folder);

}  // namespace gradus::distributed
