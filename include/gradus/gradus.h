#pragma once
// Everything gradus offers, in reading order.

#include "gradus/core/tensor.h"
//
#include "gradus/core/array.h"
#include "gradus/core/autograd.h"
#include "gradus/core/dtype.h"
#include "gradus/core/error.h"
#include "gradus/core/parallel.h"
#include "gradus/core/random.h"
#include "gradus/core/scope.h"
#include "gradus/core/shape.h"
#include "gradus/core/storage.h"
#include "gradus/core/version.h"
