#pragma once
// Everything in nn. Open module.h first, then linear.h, then block.h.

#include "gradus/nn/activation.h"
#include "gradus/nn/attention.h"
#include "gradus/nn/block.h"
#include "gradus/nn/decoder_block.h"
#include "gradus/nn/dropout.h"
#include "gradus/nn/embedding.h"
#include "gradus/nn/ffn.h"
#include "gradus/nn/gpt.h"
#include "gradus/nn/init.h"
#include "gradus/nn/linear.h"
#include "gradus/nn/module.h"
#include "gradus/nn/norm.h"
#include "gradus/nn/positions.h"
#include "gradus/nn/probe.h"
#include "gradus/nn/sequential.h"
#include "gradus/nn/transformer.h"
