#include "optimize/tuning_database.h"

#include <cctype>
#include <cmath>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include "backends/cpu/version.h"
#include "base/error.h"
#include "codegen/codegen.h"
#include "optimize/measure.h"

namespace ollie::optimize {

namespace fs = std::filesystem;

namespace {

constexpr int application = 0x4f6c6c69;
constexpr int busy_milliseconds = 20000;
constexpr const char* schema =
    "CREATE TABLE IF NOT EXISTS measurement ("
    "what TEXT NOT NULL, device TEXT NOT NULL, versions TEXT NOT NULL, threads INTEGER NOT NULL,"
    "seconds REAL NOT NULL, PRIMARY KEY (what, device, versions, threads)) WITHOUT ROWID";

struct SqlError {
    int code;
    std::string text;

    bool is_damage() const {
        int primary = code & 0xff;
        return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_ERROR ||
               primary == SQLITE_FORMAT;
    }
};

/// Held while a file is opened, created or set aside, so that no two processes do so at once. Where
/// the folder cannot be written there is nothing to hold.
class FileLock {
public:
    explicit FileLock(const fs::path& file)
        : descriptor_(open((file.string() + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
        if (descriptor_ >= 0) flock(descriptor_, LOCK_EX);
    }
    ~FileLock() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

private:
    int descriptor_;
};

/// The name of a file that nobody changes, as SQLite takes it.
std::string unchanging(const fs::path& path) {
    std::string name = "file:";
    for (char c : fs::absolute(path).string())
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/'
                    ? std::string(1, c)
                    : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return name + "?immutable=1";
}

}  // namespace

/// One connection. Errors: SqlError.
class TuningDatabase::File {
public:
    File(const fs::path& path, int flags) {
        int code = sqlite3_open_v2(path.c_str(), &connection_, flags, nullptr);
        if (code != SQLITE_OK) {
            SqlError error{code, connection_ ? sqlite3_errmsg(connection_) : "out of memory"};
            sqlite3_close(connection_);
            throw error;
        }
        sqlite3_busy_timeout(connection_, busy_milliseconds);
    }
    ~File() {
        for (sqlite3_stmt* statement : {select_, insert_}) sqlite3_finalize(statement);
        sqlite3_close(connection_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void execute(const std::string& sql) {
        check(sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr));
    }

    /// The first column of the first row; empty if there is none.
    std::string first_of(const std::string& sql) {
        sqlite3_stmt* statement = prepare(sql);
        int code = sqlite3_step(statement);
        std::string text;
        if (code == SQLITE_ROW && sqlite3_column_text(statement, 0) != nullptr)
            text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
        sqlite3_finalize(statement);
        if (code != SQLITE_ROW) check(code);
        return text;
    }

    std::map<std::string, double> read(const TuningContext& context) {
        if (select_ == nullptr)
            select_ = prepare(
                "SELECT what, seconds FROM measurement "
                "WHERE device = ?1 AND versions = ?2 AND threads = ?3");
        bind(select_, 1, context);
        std::map<std::string, double> rows;
        int code = sqlite3_step(select_);
        for (; code == SQLITE_ROW; code = sqlite3_step(select_)) {
            double seconds = sqlite3_column_double(select_, 1);
            const unsigned char* what = sqlite3_column_text(select_, 0);
            if (what != nullptr && std::isfinite(seconds) && seconds > 0)
                rows[reinterpret_cast<const char*>(what)] = seconds;
        }
        sqlite3_reset(select_);
        check(code);
        return rows;
    }

    void insert(const TuningContext& context, const std::string& what, double seconds) {
        if (insert_ == nullptr)
            insert_ = prepare(
                "INSERT OR IGNORE INTO measurement "
                "(device, versions, threads, what, seconds) VALUES (?, ?, ?, ?, ?)");
        bind(insert_, 1, context);
        sqlite3_bind_text(insert_, 4, what.c_str(), -1, SQLITE_TRANSIENT);
        sqlite3_bind_double(insert_, 5, seconds);
        int code = sqlite3_step(insert_);
        sqlite3_reset(insert_);
        check(code);
    }

private:
    sqlite3_stmt* prepare(const std::string& sql) {
        sqlite3_stmt* statement = nullptr;
        check(sqlite3_prepare_v2(connection_, sql.c_str(), -1, &statement, nullptr));
        return statement;
    }

    static void bind(sqlite3_stmt* statement, int first, const TuningContext& context) {
        sqlite3_bind_text(statement, first, context.device.c_str(), -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(statement, first + 1, context.versions.c_str(), -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(statement, first + 2, context.threads);
    }

    void check(int code) {
        if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
        throw SqlError{code, sqlite3_errmsg(connection_)};
    }

    sqlite3* connection_ = nullptr;
    sqlite3_stmt* select_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
};

TuningContext tuning_context(int threads) {
    MachineDescription machine = describe_machine();
    return {fmt::format("{}; {}; {} cores; caches {} {} {}", machine.cpu, machine.isa,
                        machine.cores, machine.first_level_bytes, machine.second_level_bytes,
                        machine.last_level_bytes),
            fmt::format("{}; {}", backends::cpu::library_versions(), codegen::version()), threads};
}

TuningDatabase::TuningDatabase() = default;
TuningDatabase::~TuningDatabase() = default;

TuningDatabase::TuningDatabase(fs::path file, TuningContext context, Access access)
    : path_(std::move(file)), context_(std::move(context)), access_(access) {
    if (path_.empty()) return;
    std::error_code ignored;
    if (access == Access::Frozen) {
        if (fs::exists(path_, ignored)) read_frozen(path_, SQLITE_OPEN_READONLY);
        return;
    }
    if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), ignored);
    FileLock lock(path_);
    open(true);
}

/// Whether there are tables. UserError where they are another program's.
bool TuningDatabase::examine(File& file) const {
    bool is_ours = file.first_of("PRAGMA application_id") == std::to_string(application);
    bool is_empty = file.first_of("SELECT count(*) FROM sqlite_master") == "0";
    if (!is_ours && !is_empty)
        throw_user_error("{} is a database of another program, not a tuning database",
                         path_.string());
    if (std::string found = file.first_of("PRAGMA quick_check(1)"); found != "ok")
        throw SqlError{SQLITE_CORRUPT, found};
    return !is_empty;
}

void TuningDatabase::open(bool may_recover) {
    try {
        auto file = std::make_unique<File>(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
        examine(*file);
        file->first_of("PRAGMA journal_mode = WAL");
        file->execute("PRAGMA synchronous = NORMAL");
        file->execute(fmt::format("PRAGMA application_id = {}", application));
        file->execute(schema);
        for (auto& [what, seconds] : file->read(context_)) seconds_[what] = seconds;
        file_ = std::move(file);
    } catch (const SqlError& error) {
        if (!error.is_damage() || !may_recover) return give_up(error.text);
        set_aside(error.text);
        open(false);
    }
}

void TuningDatabase::read_frozen(const std::string& name, int flags) {
    try {
        File file(name, flags);
        if (examine(file)) seconds_ = file.read(context_);
    } catch (const SqlError& error) {
        // Where the folder cannot be written, the log's shared memory cannot be made.
        bool cannot_share = error.code == SQLITE_CANTOPEN || (error.code & 0xff) == SQLITE_READONLY;
        if (!cannot_share || (flags & SQLITE_OPEN_URI) != 0) return give_up(error.text);
        read_frozen(unchanging(path_), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    }
}

void TuningDatabase::set_aside(const std::string& reason) {
    fs::path aside = path_.string() + ".corrupt";
    std::error_code error;
    for (int i = 1; fs::exists(aside, error); ++i)
        aside = fmt::format("{}.corrupt.{}", path_.string(), i);
    fs::rename(path_, aside, error);
    for (const char* suffix : {"-wal", "-shm"}) {
        std::error_code ignored;
        fs::remove(path_.string() + suffix, ignored);
    }
    notes_.push_back(
        error ? fmt::format("the tuning database {} is damaged ({})", path_.string(), reason)
              : fmt::format("the tuning database {} was damaged ({}) and is now {}", path_.string(),
                            reason, aside.string()));
}

void TuningDatabase::give_up(const std::string& reason) {
    file_.reset();
    notes_.push_back(
        fmt::format("the tuning database {} cannot be {}: {}; times are kept in memory",
                    path_.string(), access_ == Access::Frozen ? "read" : "used", reason));
}

std::optional<double> TuningDatabase::find(const std::string& what) const {
    auto found = seconds_.find(what);
    if (found == seconds_.end()) return std::nullopt;
    return found->second;
}

void TuningDatabase::store(const std::string& what, double seconds) {
    CHECK(std::isfinite(seconds) && seconds > 0, "{} seconds for {}", seconds, what);
    seconds_.emplace(what, seconds);
    if (!file_) return;
    try {
        file_->insert(context_, what, seconds);
    } catch (const SqlError& error) {
        file_.reset();
        if (!error.is_damage()) return give_up(error.text);
        FileLock lock(path_);
        open(true);
    }
}

}  // namespace ollie::optimize
