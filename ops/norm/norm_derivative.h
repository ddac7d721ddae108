#pragma once
// The gradient of layer_norm and rms_norm with respect to x as an op, so that it has gradients itself.
// Without a weight (dn = dy weight), dx is a function of dn and x, symmetric and linear in dn:
//   dx(dn, x) = rstd (dn - mean(dn) - xhat mean(dn xhat)),   RMS norm: without mean(dn)
// For d, the gradient of dx:
//   that of dn  is dx(d, x)
//   that of x   is dx(e, x) - xhat rstd mean(d dx(dn, x)),   e = -rstd (d mean(dn xhat) + dn mean(d xhat))
// where e is the gradient of xhat, and the last term comes from
//   d rstd / d x = -rstd^2 xhat / C
// since mean((x - mean)^2) and mean(x^2) have the derivative 2 xhat / (C rstd).
// Each is as exact as the norm for rows that leave the range of their dtype (out_of_range.h), as long as
// rstd, its products with the gradients, and the result, which grows as rstd^2, are in range. Beyond, NaN may
// take the place of infinity.

#include "gradus/core/tape/record.h"
#include "gradus/ops/ops.h"

namespace gradus {

/// A norm without a weight, and what its forward pass found.
struct NormOfRows {
  const char* op;
  Tensor (*normalize)(const Tensor& x, double eps);  // xhat
  Array (*dx)(const NormOfRows& norm, const Array& dn, const Array& x);
  Array mean;  // [rows, 1], undefined for RMS norm
  Array rstd;  // [rows, 1]
  double eps;
};

/// Which gradients to compute.
struct NormWanted {
  bool dx = false, dweight = false, dbias = false;
};

struct NormDerivative {
  Tensor dx, dweight;
};

/// Those of dx and dweight that are needed, on the tape. x and w: as saved; w may be undefined.
NormDerivative norm_derivative(const NormOfRows& norm, const Tensor& dy, const Saved& x, const Saved& w,
                               const Taped& of);

}  // namespace gradus
