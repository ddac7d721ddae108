#include "learn/learn.h"

// How sensitive is training to the learning rate? About 9 lines.
//
// Wortsman et al. (2309.14322) measure it with one number. A model is trained with several rates; loss[i] is
// the final loss with rate i, and start is the loss before training. The sensitivity is how far the losses
// lie above the smallest one, on average over all rates. How do you keep one diverged run from deciding it?
//
// A run that has diverged may end with NaN, or above start. It counts as start: in the mean, and as the
// smallest loss if all runs have diverged. For best_rate losses are as they are, and a NaN is never the best.
//
// Forbidden: Tensor, which is not needed here. Useful: std::isnan, std::min.

double sensitivity(const std::vector<double>& loss, double start) { return todo(loss, start); }

/// Returns the index of the best rate in the list.
int best_rate(const std::vector<double>& loss) { return todo(loss); }
