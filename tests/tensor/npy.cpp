#include <cstring>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tensor/host_array.h"

namespace ollie {
namespace {

namespace fs = std::filesystem;

class Npy : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() /
                  fmt::format("ollie_npy_{}_{}", getpid(),
                              testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    fs::path file(const std::string& name) const { return folder_ / name; }

    fs::path file_with(const std::string& name, const std::string& content) const {
        std::ofstream(file(name), std::ios::binary) << content;
        return file(name);
    }

    std::string content(const fs::path& path) const {
        std::ostringstream text;
        text << std::ifstream(path, std::ios::binary).rdbuf();
        return text.str();
    }

    /// A file of format 1.0 with this dictionary and these elements.
    fs::path file_of(const std::string& dictionary, const std::string& elements) const {
        std::string text = std::string("\x93NUMPY\x01\x00", 8);
        text += {static_cast<char>(dictionary.size()), 0};
        return file_with("made.npy", text + dictionary + elements);
    }

    std::string error_of(const fs::path& path) const {
        try {
            read_npy(path);
        } catch (const UserError& error) {
            return error.what();
        }
        return "no error";
    }

    fs::path folder_;
};

TEST_F(Npy, RoundTripOfAllTypesAndShapes) {
    for (int type = 0; type <= static_cast<int>(ElementType::Bool); ++type)
        for (const Shape& shape :
             {Shape{}, Shape{1}, Shape{0}, Shape{3, 0, 2}, Shape{7}, Shape{2, 3, 5}, Shape(9, 1)}) {
            HostArray array(static_cast<ElementType>(type), shape);
            for (int64_t i = 0; i < array.size(); ++i) array.set(i, static_cast<double>(i * i));
            write_npy(file("a.npy"), array);
            HostArray read = read_npy(file("a.npy"));
            EXPECT_EQ(read.type(), array.type());
            EXPECT_EQ(read.shape(), shape);
            for (int64_t i = 0; i < array.size(); ++i) EXPECT_EQ(read.at(i), array.at(i));
        }
}

TEST_F(Npy, HeaderIsAsNumpyWritesIt) {
    write_npy(file("a.npy"), HostArray(ElementType::F32, {2, 3}));
    std::string text = content(file("a.npy"));
    EXPECT_EQ(text.size(), 128u + 24u);
    EXPECT_EQ(text.substr(10, 60),
              "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
              " ");
    EXPECT_EQ(text[127], '\n');
    write_npy(file("b.npy"), HostArray(ElementType::Bool, {5}));
    EXPECT_THAT(content(file("b.npy")), testing::HasSubstr("'|b1'"));
    EXPECT_THAT(content(file("b.npy")), testing::HasSubstr("(5,)"));
}

TEST_F(Npy, OtherSpellingsOfTheHeader) {
    std::string four("\0\0\x80\x3f", 4);
    EXPECT_EQ(
        read_npy(file_of("{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"<f4\"}", four)).at(0),
        1);
    EXPECT_EQ(read_npy(file_of("{'descr': '=f4', 'fortran_order': False, 'shape': (), }  \n", four))
                  .shape(),
              Shape{});
}

TEST_F(Npy, AnyByteOfABoolIsTrue) {
    HostArray read = read_npy(file_of("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}",
                                      std::string("\0\1\7", 3)));
    EXPECT_EQ(read.at(0), 0);
    EXPECT_EQ(read.at(2), 1);
}

TEST_F(Npy, BadFilesAreNamedWithTheReason) {
    using testing::HasSubstr;
    EXPECT_THAT(error_of(file("none.npy")), HasSubstr("none.npy: cannot be opened"));
    EXPECT_THAT(error_of(folder_), HasSubstr("a folder"));
    EXPECT_THAT(error_of(file_with("a", "")), HasSubstr("not a .npy file"));
    EXPECT_THAT(error_of(file_with("a", "hello, world")), HasSubstr("not a .npy file"));
    EXPECT_THAT(error_of(file_with("a", std::string("\x93NUMPY\x01\x00\x40\x00{", 11))),
                HasSubstr("truncated"));
    EXPECT_THAT(error_of(file_with("a", std::string("\x93NUMPY\x09\x00\x40\x00{", 11))),
                HasSubstr("format 9"));
    auto with = [&](const std::string& dictionary) {
        return error_of(file_of(dictionary, std::string(8, '\0')));
    };
    EXPECT_THAT(with("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}"),
                HasSubstr("8 bytes of elements, expected 12 for f32[3]"));
    EXPECT_THAT(with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"),
                HasSubstr("expected 4"));
    EXPECT_THAT(with("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}"),
                HasSubstr("Fortran"));
    EXPECT_THAT(with("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}"),
                HasSubstr("element type '>f4'"));
    EXPECT_THAT(with("{'descr': '<f2', 'fortran_order': False, 'shape': (4,)}"),
                HasSubstr("element type '<f2'"));
    EXPECT_THAT(with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
                HasSubstr("descr"));
    EXPECT_THAT(with("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}"),
                HasSubstr("shape"));
    EXPECT_THAT(with("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}"),
                HasSubstr("shape"));
    EXPECT_THAT(with("{'descr': '<f4', 'fortran_order': False}"), HasSubstr("no 'shape'"));
    EXPECT_THAT(with("{'descr': '<f4', 'fortran_order': False, 'shape': "
                     "(4294967296, 4294967296)}"),
                HasSubstr("too large"));
}

TEST_F(Npy, WritingWhereItCannotBeLeavesNothing) {
    EXPECT_THROW(write_npy(file("none/a.npy"), HostArray(ElementType::F32, {2})), UserError);
    fs::create_directory(file("taken.npy"));
    fs::create_directory(file("taken.npy") / "inside");
    EXPECT_THROW(write_npy(file("taken.npy"), HostArray(ElementType::F32, {2})), UserError);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace ollie
