// Goal: MD5 as the RFC's own vectors have it, around the border of a block, and the name of a region of
// HBase.
#include "cellar/keys.h"

#include <gtest/gtest.h>

#include <string>

namespace cellar::testing {

TEST(Md5, TheVectorsOfTheRfc) {
  EXPECT_EQ(md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_hex("a"), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(md5_hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(md5_hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(Md5, AroundTheBorderOfABlock) {
  EXPECT_EQ(md5_hex(std::string(55, 'x')), "04364420e25c512fd958a70738aa8f72");
  EXPECT_EQ(md5_hex(std::string(56, 'x')), "668a72d5ba17f08e62dabcafad6db14b");
  EXPECT_EQ(md5_hex(std::string(64, 'x')), "c1bb4f81d892b2d57947682aeb252456");
}

TEST(Md5, SixteenBytesAreTheSameAsTheirDigits) {
  EXPECT_EQ(md5_bytes("a"), "\x0c\xc1\x75\xb9\xc0\xf1\xb6\xa8\x31\xc3\x99\xe2\x69\x77\x26\x61");
  EXPECT_EQ(md5_bytes("").size(), 16u);
}

}  // namespace cellar::testing
