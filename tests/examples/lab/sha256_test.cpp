#include "lab/study/sha256.h"

#include <doctest/doctest.h>

using namespace gradus::lab;

// Test vectors of FIPS 180-4.
TEST_CASE("sha256 gives the standard's digests") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("parts hash like the whole, and hex() does not end the hash") {
  Sha256 hash;
  hash.update("a");
  CHECK(hash.hex() == sha256("a"));
  hash.update("b").update("").update("c");
  CHECK(hash.hex() == sha256("abc"));
  CHECK(hash.hex() == sha256("abc"));
}
