#pragma once
// gradus::distributed: one program on many ranks, with the bits of one (docs/many_machines.md). Open
// session.h and data_parallel.h first.

#include "gradus/core/io/checkpoint_parts.h"
#include "gradus/distributed/checkpoint.h"
#include "gradus/distributed/communicator.h"
#include "gradus/distributed/data_parallel.h"
#include "gradus/distributed/model_parallel/across_ranks.h"
#include "gradus/distributed/model_parallel/pipeline.h"
#include "gradus/distributed/model_parallel/vocab_parallel.h"
#include "gradus/distributed/session.h"
#include "gradus/distributed/sharded.h"
#include "gradus/distributed/threads.h"
