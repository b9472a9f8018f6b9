#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Times that were measured once, kept for later runs of the optimizer.
namespace ollie::optimize {

/// What a time depends on besides what is run. Times of another context are misses.
struct TuningContext {
    std::string device;    ///< Processor, extensions, caches.
    std::string versions;  ///< Of libraries and generated code.
    int threads = 1;
};

/// Of this machine and this build.
TuningContext tuning_context(int threads);

/// A table what -> seconds in one SQLite file (write-ahead log), of which one context is seen.
///
/// All rows of the context are read when it is opened; what is stored is seen at once by this
/// object, and by others when they open the file. Several processes may use one file; a process
/// that is killed loses at most its last time. The first time stored for something stays.
///
/// A file that is damaged, or is no database, is renamed to FILE.corrupt (a frozen one is left) and
/// a new one is begun; where the file cannot be written, times are kept in memory. Both are noted.
class TuningDatabase {
public:
    enum class Access {
        Update,  ///< Created where there is none.
        Frozen   ///< Only read; where there is none, everything is a miss.
    };

    /// In memory only.
    TuningDatabase();
    /// Without a path: in memory. Errors: UserError where the file is a database of another
    /// program.
    TuningDatabase(std::filesystem::path file, TuningContext context, Access access);
    ~TuningDatabase();
    TuningDatabase(const TuningDatabase&) = delete;
    TuningDatabase& operator=(const TuningDatabase&) = delete;

    std::optional<double> find(const std::string& what) const;
    /// `seconds` is above 0. Frozen: only this object sees it.
    void store(const std::string& what, double seconds);
    size_t size() const { return seconds_.size(); }
    /// What went wrong, for people.
    const std::vector<std::string>& notes() const { return notes_; }

private:
    class File;
    bool examine(File&) const;
    void open(bool may_recover);
    void read_frozen(const std::string& name, int flags);
    void set_aside(const std::string& reason);
    void give_up(const std::string& reason);

    std::filesystem::path path_;
    TuningContext context_;
    Access access_ = Access::Frozen;
    std::unique_ptr<File> file_;  ///< None in memory and where frozen.
    std::map<std::string, double> seconds_;
    std::vector<std::string> notes_;
};

}  // namespace ollie::optimize
