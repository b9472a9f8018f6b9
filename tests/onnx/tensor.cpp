#include "onnx/tensor.h"

#include <gmock/gmock.h>

#include "onnx/model.h"

namespace ollie::onnx {
namespace {

using testing::HasSubstr;

const std::vector<int> all_types{Tensor::FLOAT,  Tensor::DOUBLE, Tensor::INT8,  Tensor::INT16,
                                 Tensor::INT32,  Tensor::INT64,  Tensor::UINT8, Tensor::UINT16,
                                 Tensor::UINT32, Tensor::UINT64, Tensor::BOOL};

Tensor tensor_of(int type, const std::vector<int64_t>& shape) {
    Tensor tensor;
    tensor.set_data_type(type);
    for (int64_t extent : shape) tensor.add_dims(extent);
    return tensor;
}

void add(Tensor& tensor, int value) {
    switch (tensor.data_type()) {
        case Tensor::FLOAT:
            tensor.add_float_data(static_cast<float>(value));
            break;
        case Tensor::DOUBLE:
            tensor.add_double_data(value);
            break;
        case Tensor::INT64:
            tensor.add_int64_data(value);
            break;
        case Tensor::UINT32:
        case Tensor::UINT64:
            tensor.add_uint64_data(static_cast<uint64_t>(value));
            break;
        default:
            tensor.add_int32_data(value);
    }
}

class OnnxTensor : public WithFolder {
protected:
    HostArray read(const Tensor& tensor) const { return read_tensor(tensor, folder_, "tensor t"); }
    std::string error_of(const Tensor& tensor) const {
        return WithFolder::error_of([&] { read(tensor); });
    }
    static Tensor external(const std::string& location, const std::string& offset = "",
                           const std::string& length = "") {
        Tensor tensor = tensor_of(Tensor::FLOAT, {2});
        tensor.set_data_location(Tensor::EXTERNAL);
        auto state = [&](const std::string& key, const std::string& value) {
            if (value.empty()) return;
            auto* entry = tensor.add_external_data();
            entry->set_key(key);
            entry->set_value(value);
        };
        state("location", location);
        state("offset", offset);
        state("length", length);
        return tensor;
    }
};

TEST_F(OnnxTensor, TypedDataOfAllTypes) {
    for (int type : all_types)
        for (int64_t extent : {0, 1, 7}) {
            Tensor tensor = tensor_of(type, {extent, 1});
            for (int i = 0; i < extent; ++i) add(tensor, i % 2);
            HostArray array = read(tensor);
            EXPECT_EQ(array.type(), *onnx::element_type_of(type));
            EXPECT_EQ(array.shape(), (Shape{extent, 1}));
            for (int i = 0; i < extent; ++i) EXPECT_EQ(array.at(i), i % 2) << type_name(type);
        }
}

TEST_F(OnnxTensor, RawDataOfAllTypes) {
    for (int type : all_types)
        for (int64_t extent : {0, 1, 7}) {
            HostArray expected(*onnx::element_type_of(type), {extent});
            for (int64_t i = 0; i < extent; ++i) expected.set(i, static_cast<double>(i % 2));
            Tensor tensor = tensor_of(type, {extent});
            tensor.set_raw_data(expected.data(), static_cast<size_t>(expected.bytes()));
            HostArray array = read(tensor);
            for (int64_t i = 0; i < extent; ++i) EXPECT_EQ(array.at(i), expected.at(i));
        }
}

TEST_F(OnnxTensor, NegativeAndLargeIntegers) {
    Tensor bytes = tensor_of(Tensor::INT8, {});
    add(bytes, -3);
    EXPECT_EQ(read(bytes).int_at(0), -3);
    Tensor words = tensor_of(Tensor::UINT64, {1});
    words.add_uint64_data(~uint64_t{0});
    EXPECT_EQ(read(words).as<uint64_t>()[0], ~uint64_t{0});
    Tensor flag = tensor_of(Tensor::BOOL, {1});
    flag.set_raw_data("\x02");
    EXPECT_EQ(read(flag).at(0), 1);
}

TEST_F(OnnxTensor, TypesThatAreNoneOfOurs) {
    EXPECT_THAT(error_of(tensor_of(Tensor::FLOAT16, {1})),
                HasSubstr("unsupported: tensor t: element type FLOAT16"));
    EXPECT_THAT(error_of(tensor_of(Tensor::STRING, {1})), HasSubstr("STRING"));
    EXPECT_THAT(error_of(tensor_of(77, {1})), HasSubstr("element type 77"));
    EXPECT_THAT(error_of(tensor_of(0, {1})), HasSubstr("element type UNDEFINED"));
}

TEST_F(OnnxTensor, ExtentsAndDataMustAgree) {
    Tensor tensor = tensor_of(Tensor::FLOAT, {2, 3});
    add(tensor, 1);
    EXPECT_THAT(error_of(tensor),
                HasSubstr("error: tensor t: 1 elements of data, expected 6 for shape 2x3"));
    tensor.set_raw_data("abcde");
    EXPECT_THAT(error_of(tensor), HasSubstr("5 bytes of data, expected 24 for f32[2x3]"));
    EXPECT_THAT(error_of(tensor_of(Tensor::FLOAT, {-1})), HasSubstr("shape -1 is not possible"));
    // Products that would wrap, and extents that nothing could hold, take no memory.
    int64_t large = int64_t{1} << 40;
    EXPECT_THAT(error_of(tensor_of(Tensor::FLOAT, {large, large})), HasSubstr("not possible"));
    EXPECT_THAT(error_of(tensor_of(Tensor::FLOAT, {large})), HasSubstr("0 elements of data"));
    EXPECT_EQ(error_of(tensor_of(Tensor::FLOAT, {large, 0, large})), "no error");
    tensor = tensor_of(Tensor::FLOAT, {1});
    tensor.mutable_segment();
    EXPECT_THAT(error_of(tensor), HasSubstr("a segment"));
}

TEST_F(OnnxTensor, ExternalData) {
    HostArray values(ElementType::F32, {4});
    for (int64_t i = 0; i < 4; ++i) values.set(i, static_cast<double>(i));
    std::string content(static_cast<const char*>(values.data()), 16);
    std::filesystem::create_directory(path("sub"));
    write("sub/data.bin", content);
    EXPECT_EQ(read(external("sub/data.bin")).at(1), 1);
    EXPECT_EQ(read(external("sub/data.bin", "8")).at(1), 3);
    EXPECT_EQ(read(external("./sub/data.bin", "4", "8")).at(0), 1);
    EXPECT_THAT(error_of(external("sub/data.bin", "9")),
                HasSubstr("\"sub/data.bin\" ends before byte 9 + 8"));
    EXPECT_THAT(error_of(external("sub/data.bin", "9223372036854775807")),
                HasSubstr("ends before"));
    EXPECT_THAT(error_of(external("sub/data.bin", "-1")), HasSubstr("offset \"-1\""));
    EXPECT_THAT(error_of(external("sub/data.bin", "1x")), HasSubstr("offset \"1x\""));
    EXPECT_THAT(error_of(external("sub/data.bin", "0", "4")),
                HasSubstr("4 bytes of external data, expected 8"));
    EXPECT_THAT(error_of(external("none.bin")), HasSubstr("No such file"));
    EXPECT_THAT(error_of(external("sub")), HasSubstr("is not a file"));
}

TEST_F(OnnxTensor, ExternalDataStaysInsideTheFolder) {
    std::filesystem::create_directory(path("model"));
    write("secret.bin", "12345678");
    std::filesystem::create_symlink("../secret.bin", path("model") / "link.bin");
    std::filesystem::create_symlink("..", path("model") / "up");
    std::ofstream(path("model") / "own.bin") << "12345678";
    std::filesystem::create_symlink("own.bin", path("model") / "inner.bin");
    auto error_at = [&](const std::string& location) {
        return WithFolder::error_of(
            [&] { read_tensor(external(location), path("model"), "tensor t"); });
    };
    EXPECT_EQ(error_at("own.bin"), "no error");
    EXPECT_EQ(error_at("inner.bin"), "no error");
    EXPECT_THAT(error_at("../secret.bin"), HasSubstr("expected a path inside the model's folder"));
    EXPECT_THAT(error_at("a/../../secret.bin"), HasSubstr("expected a path inside"));
    EXPECT_THAT(error_at(path("secret.bin").string()), HasSubstr("expected a path inside"));
    EXPECT_THAT(error_at(""), HasSubstr("expected a path inside"));
    EXPECT_THAT(error_at("link.bin"), HasSubstr("a link out of the model's folder"));
    EXPECT_THAT(error_at("up/secret.bin"), HasSubstr("a link out of the model's folder"));
}

TEST_F(OnnxTensor, ExternalDataBeyondTwoGigabytes) {
    int64_t offset = (int64_t{1} << 32) + 4;
    write("large.bin", "");
    std::filesystem::resize_file(path("large.bin"), static_cast<uintmax_t>(offset));
    HostArray values(ElementType::F32, {2});
    values.set(0, 5);
    values.set(1, 7);
    std::ofstream(path("large.bin"), std::ios::binary | std::ios::app)
        .write(static_cast<const char*>(values.data()), 8);
    EXPECT_EQ(read(external("large.bin", fmt::format("{}", offset))).at(1), 7);
}

TEST_F(OnnxTensor, AModelWithExternalData) {
    Model model;
    model.input("x", {2}).node("Add", {"x", "w"}, {"y"}).output("y");
    *model.graph().add_initializer() = external("w.bin");
    model.graph().mutable_initializer(0)->set_name("w");
    EXPECT_THAT(WithFolder::error_of(model), HasSubstr("initializer \"w\": external data at"));
    write("w.bin", std::string(8, '\0'));
    EXPECT_EQ(WithFolder::read(model).values[1].constant->bytes(), 8);
}

}  // namespace
}  // namespace ollie::onnx
