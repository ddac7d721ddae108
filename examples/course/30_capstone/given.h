#pragma once
// What the ledger of claims knows.

struct Band {
  double low = 0, high = 0;
};
enum class Verdict { holds, fails, unclear };
