#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/print.h"
#include "program/verify.h"
#include "runtime/checksum.h"
#include "runtime/session.h"
#include "support/program_builder.h"

namespace ollie::runtime {
namespace {

namespace fs = std::filesystem;
using program::Program;
using ::testing::AnyOf;
using testing::counting;
using ::testing::HasSubstr;
using testing::ProgramBuilder;
using ::testing::StartsWith;

/// A folder that is removed with its content.
class Folder {
public:
    Folder() : path_((fs::temp_directory_path() / "ollie-test-XXXXXX").string()) {
        CHECK(mkdtemp(path_.data()) != nullptr);
    }
    ~Folder() {
        chmod(path_.c_str(), 0755);
        fs::remove_all(path_);
    }
    fs::path file(const std::string& name = "model.ollie") const { return fs::path(path_) / name; }
    std::vector<std::string> names() const {
        std::vector<std::string> result;
        for (const auto& entry : fs::directory_iterator(path_))
            result.push_back(entry.path().filename().string());
        return result;
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

std::string contents(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void overwrite(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// Everything that a program can hold, with awkward names and numbers.
Program full_program() {
    double infinity = std::numeric_limits<double>::infinity();
    ProgramBuilder builder;
    builder.input("in put/\"1\"", {2, 3})
        .constant("W", counting({2, 3}, 0.1), {1, 0})
        .constant("\xff\xfe", counting({0, 5}))
        .constant("I", counting({7}, -3, ElementType::I64))
        .scratch("t", {2, 3}, {1, 0})
        .output("Y", {2, 3})
        .kernel("kernel_1", {"in put/\"1\"", "W"}, {"t"},
                "input \"in put/\\\"1\\\"\": f32[2, 3]\nweight W: f32[2, 3] = {1, 2, 3, 4, 5, 6}\n"
                "output t: f32[i:2, j:3] = \"in put/\\\"1\\\"\"[i, j] * W[i, j]")
        .call("copy", {"t"}, {"Y"}, "input t: f32[2, 3]\noutput Y: f32[i:2, j:3] = t[i, j]");
    Program& program = builder.program();
    program.steps[0].parameters = {{"int", int64_t{1} << 62},
                                   {"whole", 1.0},
                                   {"infinite", -infinity},
                                   {"small", 0x1p-1074},
                                   {"text", std::string("a\n\xc3\xa4\x80")},
                                   {"ints", std::vector<int64_t>{}},
                                   {"floats", std::vector<double>{0.1, -0.0, infinity}},
                                   {"texts", std::vector<std::string>{"", "inf"}}};
    program.steps[0].origin = {"node \xe2\x82\xac", "other"};
    program.steps[0].cost = {1e-6, 0.3};
    for (int i = 0; i < 1000; ++i) program.code.push_back(static_cast<std::byte>(i * 7));
    program.code_target = "x86-64-avx2-fma";
    program::Derivation derivation;
    derivation.name = "sub";
    derivation.origin = {"n"};
    derivation.before = "before\n";
    derivation.trail = {{"rule", "place", "parameters", {"fact", "other"}, "after"}, {}};
    derivation.chosen = "calls";
    derivation.cost = {1, 2};
    derivation.unoptimized = {3, infinity};
    derivation.alternatives = {"lost"};
    derivation.identity = "equal";
    derivation.lets_nonfinite_spread = true;
    derivation.search = {{"states", int64_t{5}}};
    program.derivations = {derivation, {}};
    program.facts = {{"threads", int64_t{2}}, {"notes", std::vector<std::string>{"a"}}};
    return program;
}

void expect_same(const program::Derivation& x, const program::Derivation& y) {
    EXPECT_EQ(std::tie(x.name, x.origin, x.before, x.chosen, x.alternatives, x.identity,
                       x.lets_nonfinite_spread, x.search, x.cost.estimated, x.cost.measured,
                       x.unoptimized.estimated, x.unoptimized.measured),
              std::tie(y.name, y.origin, y.before, y.chosen, y.alternatives, y.identity,
                       y.lets_nonfinite_spread, y.search, y.cost.estimated, y.cost.measured,
                       y.unoptimized.estimated, y.unoptimized.measured));
    ASSERT_EQ(x.trail.size(), y.trail.size());
    for (size_t i = 0; i < x.trail.size(); ++i)
        EXPECT_EQ(std::tie(x.trail[i].rule, x.trail[i].place, x.trail[i].parameters,
                           x.trail[i].facts, x.trail[i].after),
                  std::tie(y.trail[i].rule, y.trail[i].place, y.trail[i].parameters,
                           y.trail[i].facts, y.trail[i].after));
}

std::string error_of(const fs::path& path) {
    try {
        load(path);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(File, KeepsEverything) {
    Folder folder;
    Program saved = full_program();
    save(saved, folder.file());
    Program loaded = load(folder.file());
    EXPECT_EQ(program::print(loaded), program::print(saved));
    EXPECT_EQ(program::hash(loaded), program::hash(saved));
    ASSERT_EQ(loaded.buffers.size(), saved.buffers.size());
    for (size_t i = 0; i < saved.buffers.size(); ++i)
        EXPECT_EQ(loaded.buffers[i].name, saved.buffers[i].name);
    ASSERT_EQ(loaded.steps.size(), saved.steps.size());
    for (size_t i = 0; i < saved.steps.size(); ++i) {
        EXPECT_EQ(loaded.steps[i].parameters, saved.steps[i].parameters);
        EXPECT_EQ(loaded.steps[i].origin, saved.steps[i].origin);
        EXPECT_EQ(loaded.steps[i].cost.estimated, saved.steps[i].cost.estimated);
        EXPECT_EQ(loaded.steps[i].cost.measured, saved.steps[i].cost.measured);
    }
    EXPECT_EQ(loaded.code, saved.code);
    EXPECT_EQ(loaded.code_target, saved.code_target);
    EXPECT_EQ(loaded.facts, saved.facts);
    ASSERT_EQ(loaded.derivations.size(), saved.derivations.size());
    for (size_t i = 0; i < saved.derivations.size(); ++i)
        expect_same(loaded.derivations[i], saved.derivations[i]);
    EXPECT_TRUE(is_compiled_file(folder.file()));
}

TEST(File, SavingAgainGivesTheSameBytes) {
    Folder folder;
    save(full_program(), folder.file("a"));
    save(load(folder.file("a")), folder.file("b"));
    EXPECT_EQ(contents(folder.file("a")), contents(folder.file("b")));
    save(Program(), folder.file("a"));
    EXPECT_TRUE(load(folder.file("a")).steps.empty());
}

TEST(File, EveryFlippedByteIsFound) {
    Folder folder;
    save(full_program(), folder.file());
    std::string good = contents(folder.file());
    std::mt19937 random(1);
    for (size_t i = 0; i < good.size(); i += i < 300 ? 1 : 11) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ static_cast<char>(1 + random() % 255));
        overwrite(folder.file(), bad);
        EXPECT_THAT(
            error_of(folder.file()),
            AnyOf(HasSubstr("damaged"), HasSubstr("not a compiled file"), HasSubstr("version")))
            << "byte " << i;
    }
}

TEST(File, EveryTruncationIsFound) {
    Folder folder;
    save(full_program(), folder.file());
    std::string good = contents(folder.file());
    for (size_t size = 0; size < good.size(); size += size < 100 ? 1 : 37) {
        overwrite(folder.file(), good.substr(0, size));
        std::string error = error_of(folder.file());
        EXPECT_THAT(error, StartsWith(folder.file().string()));
        EXPECT_THAT(error, AnyOf(HasSubstr("cut short"), HasSubstr("not a compiled file")))
            << size << " bytes";
    }
    overwrite(folder.file(), good + "x");
    EXPECT_THAT(error_of(folder.file()), HasSubstr("damaged"));
}

/// Files whose checksums are right though their content is not.
TEST(File, DoesNotTrustAHeaderWithARightChecksum) {
    Folder folder;
    save(full_program(), folder.file());
    std::string good = contents(folder.file());
    auto replaced = [&](const std::string& what, std::string by) {
        size_t at = good.find(what);
        EXPECT_NE(at, std::string::npos) << what;
        by.resize(what.size(), ' ');
        std::string bad = good;
        bad.replace(at, what.size(), by);
        uint64_t length = 0;
        std::memcpy(&length, bad.data() + 16, 8);
        Checksum header;
        header.add(bad.data(), 24);
        header.add(bad.data() + 32, length);
        uint64_t sum = header.value();
        std::memcpy(bad.data() + 24, &sum, 8);
        Checksum all;
        all.add(bad.data(), bad.size() - 8);
        sum = all.value();
        std::memcpy(bad.data() + bad.size() - 8, &sum, 8);
        overwrite(folder.file(), bad);
        return error_of(folder.file());
    };
    EXPECT_EQ(replaced("\"int\"", "\"int\""), "no error");
    EXPECT_THAT(replaced("\"arguments\":[0,1]", "\"arguments\":[0,9]"), HasSubstr("no buffer 9"));
    EXPECT_THAT(replaced("\"results\":[4]", "\"results\":[-]"), HasSubstr("damaged header"));
    EXPECT_THAT(replaced("\"order\":[1,0]", "\"order\":[1,1]"), HasSubstr("order of storage"));
    EXPECT_THAT(replaced("\"shape\":[2,3]", "\"shape\":[-2] "), HasSubstr("negative"));
    EXPECT_THAT(replaced("\"shape\":[0,5]", "\"shape\":[9,5]"), HasSubstr("size"));
    EXPECT_THAT(replaced("\"ints\",[]", "\"nots\",[]"), HasSubstr("kind of attribute"));
    EXPECT_THAT(replaced("\"role\":\"scratch\"", "\"role\":\"scrotch\""), HasSubstr("scrotch"));
    EXPECT_THAT(replaced("\"type\":\"f32\"", "\"type\":\"f33\""), HasSubstr("type"));
    EXPECT_THAT(replaced("\"code_bytes\":1000", "\"code_bytes\":9000"), HasSubstr("size"));
    EXPECT_THAT(replaced("\"name\":\"W\"", "\"name\":{}"), HasSubstr("damaged header"));
    EXPECT_THAT(replaced("t[i, j]", "t[i; j]"), HasSubstr("damaged header"));
    EXPECT_THAT(replaced("{\"buffers\"", "[\"buffers\""), HasSubstr("damaged header"));
}

TEST(File, OtherFiles) {
    Folder folder;
    EXPECT_THAT(error_of(folder.file()), HasSubstr("No such file"));
    EXPECT_FALSE(is_compiled_file(folder.file()));
    overwrite(folder.file(), "OLLIE\x01\r\n-----------------------------------------");
    EXPECT_THAT(error_of(folder.file()), HasSubstr("version 1 of the format"));
    overwrite(folder.file(), "something else, but long enough to be one of them");
    EXPECT_THAT(error_of(folder.file()), HasSubstr("is not a compiled file"));
    EXPECT_FALSE(is_compiled_file(folder.file()));
    EXPECT_THAT(error_of(folder.path()), HasSubstr("a folder, not a file"));
    EXPECT_FALSE(is_compiled_file(folder.path()));
}

std::string error_of_saving(const fs::path& path) {
    try {
        save(full_program(), path);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(File, SavingSaysWhatIsInTheWay) {
    Folder folder;
    EXPECT_THAT(error_of_saving(folder.file("none/model")), HasSubstr("No such file"));
    fs::create_directory(folder.file("taken"));
    EXPECT_THAT(error_of_saving(folder.file("taken")), HasSubstr("Is a directory"));
    EXPECT_THAT(folder.names(), ::testing::ElementsAre("taken"));
    if (geteuid() == 0) return;  // No folder is read-only for the superuser.
    chmod(folder.path().c_str(), 0555);
    EXPECT_THAT(error_of_saving(folder.file()), HasSubstr("Permission denied"));
}

/// A limit on the size of files stands for a full disk.
TEST(File, AFullDiskLeavesNothingBehind) {
    Folder folder;
    save(Program(), folder.file());
    std::string before = contents(folder.file());
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        rlimit limit{2000, 2000};
        setrlimit(RLIMIT_FSIZE, &limit);
        std::string error = error_of_saving(folder.file());
        _exit(error.find("File too large") != std::string::npos ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(folder.names().size(), 1u);
    EXPECT_EQ(contents(folder.file()), before);
}

/// Killed at any moment, the file is the old or the new one.
TEST(File, AKilledWriterLeavesTheOldFile) {
    Folder folder;
    Program small = full_program();
    Program large = full_program();
    large.code.resize(8 << 20);
    save(small, folder.file());
    std::mt19937 random(3);
    for (int i = 0; i < 10; ++i) {
        pid_t child = fork();
        if (child == 0)
            for (;;) save(large, folder.file());
        usleep(static_cast<useconds_t>(random() % 20000));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        EXPECT_THAT(load(folder.file()).code.size(), AnyOf(1000u, size_t{8} << 20));
    }
}

TEST(Checksum, IsXxh64) {
    auto of = [](std::string_view text) {
        Checksum checksum;
        checksum.add(text.data(), text.size());
        return checksum.value();
    };
    EXPECT_EQ(of(""), 0xef46db3751d8e999ull);
    EXPECT_EQ(of("a"), 0xd24ec4f1a98c6e5bull);
    EXPECT_EQ(of("abc"), 0x44bc2cf5ad770999ull);
    EXPECT_EQ(of("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1ull);
}

TEST(Checksum, DoesNotDependOnThePieces) {
    std::string text;
    for (int i = 0; i < 500; ++i) text += static_cast<char>(i * 31);
    Checksum whole;
    whole.add(text.data(), text.size());
    std::mt19937 random(2);
    for (int run = 0; run < 100; ++run) {
        Checksum pieces;
        for (size_t at = 0; at < text.size();) {
            size_t bytes = std::min<size_t>(random() % 70, text.size() - at);
            pieces.add(text.data() + at, bytes);
            at += bytes;
        }
        EXPECT_EQ(pieces.value(), whole.value());
    }
}

TEST(DeviceKey, NamesProcessorAndLibrary) {
    EXPECT_THAT(device_key(), HasSubstr("oneDNN"));
    EXPECT_EQ(device_key(), device_key());
}

}  // namespace
}  // namespace ollie::runtime
