#pragma once
// Everything in data. Open loader.h first.

#include "gradus/data/item_function.h"
#include "gradus/data/loader.h"
#include "gradus/data/mask_tokens.h"
#include "gradus/data/metrics.h"
#include "gradus/data/random_split.h"
#include "gradus/data/sentence_pair.h"
#include "gradus/data/span_corruption.h"
#include "gradus/data/text_windows.h"
