#include <functional>

#include "backends/cpu/products.h"

namespace ollie::backends::cpu {
namespace {

const std::vector<Contraction>& contractions() {
    static const std::vector<Contraction> all{
        {"ij", "ik", "kj", {{'i', 17}, {'j', 33}, {'k', 5}}},
        {"ij", "ik", "kj", {{'i', 1}, {'j', 31}, {'k', 16}}},
        {"ij", "ik", "jk", {{'i', 16}, {'j', 1}, {'k', 47}}, false, false},
        {"ij", "ki", "kj", {{'i', 7}, {'j', 19}, {'k', 64}}, false, false},
        {"ji", "ik", "kj", {{'i', 7}, {'j', 19}, {'k', 3}}, true, false},
        {"i", "ik", "k", {{'i', 37}, {'k', 11}}},
        {"bij", "bik", "bkj", {{'b', 6}, {'i', 7}, {'j', 16}, {'k', 9}}, false, false},
        {"bij", "bik", "bkj", {{'b', 36}, {'i', 5}, {'j', 16}, {'k', 8}}},
        {"ibj", "kbi", "jkb", {{'b', 3}, {'i', 5}, {'j', 17}, {'k', 8}}, false, false},
        {"nuvfrs",
         "ncuv",
         "fcrs",
         {{'n', 2}, {'u', 5}, {'v', 7}, {'f', 3}, {'r', 3}, {'s', 3}, {'c', 9}}},
        {"nfrsuv",
         "ncuv",
         "cfrs",
         {{'n', 1}, {'u', 8}, {'v', 9}, {'f', 1}, {'r', 9}, {'s', 9}, {'c', 17}}},
        {"xyhtc", "xyhtk", "xykc", {{'x', 4}, {'y', 4}, {'h', 3}, {'t', 5}, {'c', 16}, {'k', 8}}},
        {"bhij", "bihk", "bjhk", {{'b', 2}, {'h', 3}, {'i', 9}, {'j', 11}, {'k', 8}}, false, false},
        {"bij", "bik", "kj", {{'b', 3}, {'i', 9}, {'j', 16}, {'k', 5}}, false, false},
        {"ij", "ikl", "lkj", {{'i', 9}, {'j', 16}, {'k', 5}, {'l', 7}}},
    };
    return all;
}

TEST(Matmul, EveryChoiceIsTheMeaning) {
    for (size_t i = 0; i < contractions().size(); ++i) {
        SCOPED_TRACE(i);
        ProductMaker maker;
        Scalar value = maker.product(contractions()[i]);
        EXPECT_GT(check_call("onednn_matmul", maker.define(value)), 0u);
    }
}

/// With more threads than blocks of the result, among which the library shares sums out.
TEST(Matmul, LongSums) {
    for (const char* first : {"ik", "ki", "bik", "bki"}) {
        SCOPED_TRACE(first);
        bool is_batched = first[0] == 'b';
        Contraction c{is_batched ? "bij" : "ij",
                      first,
                      is_batched ? "bkj" : "kj",
                      {{'i', 16}, {'j', 17}, {'k', 2048}}};
        if (is_batched) c.extents['b'] = 2;
        ProductMaker maker;
        Scalar value = maker.product(c);
        EXPECT_GT(check_choices(*find("onednn_matmul"), maker.define(value), 8).choices, 0u);
    }
}

TEST(Matmul, StridedViews) {
    expr::Arena arena;
    Axis i{arena.iterator("i"), 0, 5}, j{arena.iterator("j"), 0, 16}, k{arena.iterator("k"), 0, 6};
    Axis l{arena.iterator("l"), 0, 2};
    Index wide = index_of(k.iterator) * 2 + index_of(l.iterator);
    const Tensor* a = arena.input("a", ElementType::F32, {11, 12});
    const Tensor* b = arena.weight("b", ElementType::F32, {12, 20});
    Scalar body = sum({k, l}, arena.read(a, {index_of(i.iterator) * 2 + 1, wide}) *
                                  arena.read(b, {wide, index_of(j.iterator) + 3}));
    EXPECT_GT(check_call("onednn_matmul", arena.define("y", ElementType::F32, {i, j}, body)), 0u);
}

TEST(Matmul, Epilogues) {
    for (bool is_batched : {false, true}) {
        Contraction c = contractions()[is_batched ? 6 : 0];
        auto check = [&](const std::function<Scalar(ProductMaker&, Scalar)>& epilogue) {
            ProductMaker maker;
            Scalar value = maker.product(c);
            EXPECT_GT(check_call("onednn_matmul", maker.define(epilogue(maker, value))), 0u);
        };
        check([](ProductMaker& m, Scalar v) { return v + m.read("bias", "j", true); });
        check([](ProductMaker& m, Scalar v) { return relu(v + m.read("bias", "j", true)); });
        check([&](ProductMaker& m, Scalar v) { return relu(v) + m.read("residual", c.result); });
        check([](ProductMaker& m, Scalar v) {
            return m.arena.function(Function::Sigmoid, {v * 0.125 + m.read("bias", "j")});
        });
        check([](ProductMaker& m, Scalar v) { return v * m.read("scale", "j", true); });
        check([](ProductMaker& m, Scalar v) { return leaky(v, m.read("slope", "j", true)); });
    }
}

TEST(Matmul, OffersEveryOrderThatAConsumerMayWant) {
    ProductMaker maker;
    Contraction c = contractions()[9];
    Scalar value = maker.product(c);
    const LibraryCall* call = find("onednn_matmul");
    std::vector<match::Binding> bindings = bindings_of(*call, maker.define(value));
    ASSERT_EQ(bindings.size(), 1u);
    auto choices = call->choices(bindings[0]);
    ASSERT_TRUE(choices);
    std::set<std::string> results;
    for (const CallChoice& choice : *choices) results.insert(choice.result_layout.text());
    EXPECT_TRUE(results.contains("0 1 2 3 4 5"));  // n u v f r s
    EXPECT_TRUE(results.contains("0 1 2 4 5 3"));  // n u v r s f
    EXPECT_TRUE(results.contains("3 4 5 0 1 2"));  // f r s n u v
    EXPECT_TRUE(results.contains("0 3 4 5 1 2"));  // n f r s u v
}

}  // namespace
}  // namespace ollie::backends::cpu
