#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

/// Files are read only where they are files, and written whole or not at all.
namespace ollie {

/// Errors: UserError where there is no such file, or a folder, a pipe or a device of that name:
/// reading those might wait for ever.
void check_is_file(const std::filesystem::path&);

/// A file that appears under its name only when committed, and vanishes otherwise, also where the
/// process is killed: until then it has no name. Where the file system has no nameless files, or in
/// the instant of replacing another file, its name is .ollie-<process>-<number> in the same folder.
/// What was there before stays until then; its permissions stay, and links to it are followed.
///
/// Errors of all members: UserError with the path and the system's reason. The constructor has them
/// for what is in the way from the beginning: no such folder, no permission, a folder or a device
/// of that name.
class PartialFile {
public:
    explicit PartialFile(const std::filesystem::path& target);
    ~PartialFile();
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    void write(const void* data, size_t bytes);
    /// Syncs, renames, and syncs the folder.
    void commit();

private:
    void examine_target();
    void open_file();
    void give_name();
    void make_visible();
    [[noreturn]] void fail() const;
    [[noreturn]] void fail(const std::string& reason) const;

    std::filesystem::path target_;  ///< As given.
    std::filesystem::path path_;    ///< Links resolved.
    std::string name_;              ///< While it has one that is not the target's.
    int file_ = -1;
    int permissions_ = -1;  ///< Of the file that is replaced.
};

}  // namespace ollie
