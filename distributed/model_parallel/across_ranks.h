#pragma once
// For a model whose parts are on several ranks: tensors go by name. Those that several ranks have under one
// name are copies of one tensor. All three calls are collective.

#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/distributed/communicator.h"

namespace gradus::distributed {

/// optim::clip_grad_norm() for the parameters of all ranks together, each name once, in the order of one
/// process, whose bits it has: see VocabParallelEmbedding (a Pipeline has its own). Throws when a parameter
/// that several ranks have does not have the same gradient on all of them. Returns the norm before.
/// `distributed::clip_grad_norm(world, model.named_parameters(), 1.0);`
double clip_grad_norm(const Communicator& world, const std::vector<StateDict::Entry>& named_parameters,
                      double max_norm);

/// The tensors of all ranks, on every rank, which then has memory for all of them: one of several ranks is
/// the first one's. Their order is that of one process. `const StateDict whole = distributed::gather(world,
/// pipeline.state_dict());`
StateDict gather(const Communicator& world, const StateDict& tensors);

/// The same tensors for save_checkpoint(), which writes each from a rank that has it: those whose name not
/// all ranks have become pieces of the first one that has it. `state.add_all("optimizer.rank2.", ...)` keeps
/// the state of rank 2's optimizer apart. `save_checkpoint(world, folder, distributed::pieces(world,
/// state));`
StateDict pieces(const Communicator& world, const StateDict& tensors);

}  // namespace gradus::distributed
