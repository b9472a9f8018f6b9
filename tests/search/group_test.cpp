#include <gtest/gtest.h>

#include "expr/parse.h"
#include "search/search.h"

namespace ollie::search {
namespace {

/// A call that takes three definitions at once.
backends::LibraryCall softmax() {
    backends::LibraryCall call;
    call.name = "softmax";
    call.patterns = {
        "input A: f32[2, 3]\n"
        "M: f32[x:2] = max[j:3] A[x, j]\n"
        "S: f32[x:2] = sum[j:3] exp(A[x, j] - M[x])\n"
        "Y: f32[x:2, j:3] = exp(A[x, j] - M[x]) / S[x]\n"};
    call.choices = [](const match::Binding&) -> OrRefusal<std::vector<backends::CallChoice>> {
        return std::vector<backends::CallChoice>(1);
    };
    call.estimate = [](const match::Binding&, const backends::CallChoice&, const match::Machine&) {
        return 1e-9;
    };
    return call;
}

const std::string before =
    "input z: f32[31, 17]\n"
    "a: f32[h:31, k:17] = relu(z[h, k])\n"
    "m: f32[h:31] = max[k:17] a[h, k]\n"
    "s: f32[h:31] = sum[k:17] exp(a[h, k] - m[h])\n";

std::vector<Candidate> candidates_of(const std::string& after) {
    static const backends::LibraryCall call = softmax();
    Options options;
    options.calls = {&call};
    return direct(expr::parse(before + after), options);
}

TEST(Group, IsOnePieceOfACandidate) {
    std::vector<Candidate> candidates =
        candidates_of("output y: f32[h:31, k:17] = exp(a[h, k] - m[h]) / s[h]\n");
    ASSERT_FALSE(candidates.empty());
    const std::vector<Piece>& pieces = candidates[0].pieces;
    ASSERT_EQ(pieces.size(), 2u) << candidates[0].summary();
    EXPECT_EQ(pieces[0].kind, Piece::Kind::Kernel);
    EXPECT_EQ(pieces[1].kind, Piece::Kind::Call);
    EXPECT_EQ(pieces[1].definitions.size(), 3u);
    EXPECT_EQ(pieces[1].definitions.back()->name, "y");
}

TEST(Group, IsNoPieceWhereItsInsideIsReadElsewhere) {
    for (const Candidate& candidate :
         candidates_of("output y: f32[h:31, k:17] = exp(a[h, k] - m[h]) / s[h]\n"
                       "output t: f32[h:31] = s[h] * 2\n"))
        for (const Piece& piece : candidate.pieces)
            EXPECT_EQ(piece.kind, Piece::Kind::Kernel) << candidate.summary();
}

}  // namespace
}  // namespace ollie::search
