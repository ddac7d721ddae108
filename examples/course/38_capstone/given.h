#pragma once
// The types of the ledger of claims.

struct Band {
  double low = 0, high = 0;
};
enum class Verdict { holds, fails, unclear };
