// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/import_nsys.h"

#include "core/trace/import_builder.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <set>

// Tables: "SQLite Schema Reference" of the Nsight Systems user guide.

namespace cuco {

namespace {

constexpr std::int64_t latest_ns = 2'000'000'000'000'000'000;
constexpr int rows_between_looks = 16'384;
constexpr int most_ranks = 4'096;
constexpr int peer_copy = 10;         // CUPTI_ACTIVITY_MEMCPY_KIND_PTOP
constexpr int stream_wait_event = 2;  // a stream that is told to wait: the host goes on
constexpr std::array<std::string_view, 12> copy_names{"copy",
                                                      "copy host to device",
                                                      "copy device to host",
                                                      "copy host to array",
                                                      "copy array to host",
                                                      "copy array to array",
                                                      "copy array to device",
                                                      "copy device to array",
                                                      "copy device to device",
                                                      "copy host to host",
                                                      "copy to a peer",
                                                      "copy"};

/// A statement that ends with its scope. The file is somebody else's: every value may be of any type.
class Query {
public:
    Query(sqlite3* database, const std::string& sql)
    {
        sqlite3_prepare_v2(database, sql.c_str(), -1, &statement_, nullptr);
    }
    ~Query() { sqlite3_finalize(statement_); }
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    explicit operator bool() const { return statement_ != nullptr; }
    bool next() { return statement_ && (code_ = sqlite3_step(statement_)) == SQLITE_ROW; }
    bool broke() const { return code_ != SQLITE_DONE && code_ != SQLITE_ROW; }
    std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
    bool isInteger(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_INTEGER; }
    std::string_view text(int column) const
    {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        return bytes ? std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)))
                     : std::string_view();
    }

private:
    sqlite3_stmt* statement_ = nullptr;
    int code_ = SQLITE_DONE;
};

struct Closer {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};

/// Of one process on one device.
struct Place {
    std::int64_t process = 0, device = 0;
    auto operator<=>(const Place& other) const
    {
        return std::tie(device, process) <=> std::tie(other.device, other.process);
    }
    bool operator==(const Place&) const = default;
};

struct Columns {
    std::set<std::string, std::less<>> names;
    bool has(std::string_view name) const { return names.contains(name); }
    /// The column, or a constant where the export has none.
    std::string orElse(const char* name, const char* constant) const { return has(name) ? name : constant; }
};

class NsysImport {
public:
    NsysImport(const std::filesystem::path& path, const ImportWatch& watch) : path_(path), watch_(watch) {}

    Result<Timeline> run()
    {
        if (auto opened = open(); !opened) {
            return std::unexpected(std::move(opened.error()));
        }
        readNames();
        int read = 0;
        read += readKernels();
        read += readCopies();
        read += readFills();
        if (cancelled_) {
            return failure("Reading the trace was cancelled", path_.string());
        }
        if (read == 0) {
            return failure(
                "The database has none of the tables CUPTI_ACTIVITY_KIND_KERNEL, …_MEMCPY and …_MEMSET with times: "
                "it is no nsys report with CUDA in it",
                path_.string(), "Record with `nsys profile --trace=cuda` and export with `nsys export --type sqlite`.");
        }
        readSynchronizations();
        readDevices();
        if (cancelled_) {
            return failure("Reading the trace was cancelled", path_.string());
        }
        if (builder_.empty()) {
            return failure("The nsys report has no GPU work in it", path_.string(),
                           "Record with `nsys profile --trace=cuda` while the GPU works.");
        }
        if (broke_) {
            return failure("The nsys report is broken: SQLite cannot read all of it", path_.string(),
                           "Export it again with `nsys export --type sqlite`.");
        }
        nameLanes();
        return builder_.finish(path_.filename().string());
    }

private:
    Result<void> open()
    {
        sqlite3* database = nullptr;
        const int code = sqlite3_open_v2(path_.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
        database_.reset(database);
        if (code != SQLITE_OK) {
            return failure("The database cannot be opened: " + std::string(sqlite3_errstr(code)), path_.string(),
                           "Export it again with `nsys export --type sqlite`.");
        }
        sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
        sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
        sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 16 << 20);
        Query tables(database, "SELECT count(*) FROM sqlite_schema");
        if (!tables.next()) {
            return failure("The database is broken or not complete", path_.string(),
                           "Export it again with `nsys export --type sqlite`.");
        }
        return {};
    }

    Columns columnsOf(const std::string& table)
    {
        Columns columns;
        // A view could run anything; an export has tables.
        Query query(database_.get(),
                    "SELECT c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c WHERE s.type = "
                    "'table' AND s.name = '" +
                        table + "'");
        while (query.next()) {
            columns.names.emplace(query.text(0));
        }
        return columns;
    }

    /// Whether the table is there with times; says what is missing otherwise.
    std::optional<Columns> activityTable(const std::string& table)
    {
        Columns columns = columnsOf(table);
        if (columns.names.empty()) {
            builder_.note(fmt::format("the table {} is missing", table));
            return std::nullopt;
        }
        for (const char* needed : {"start", "end"}) {
            if (!columns.has(needed)) {
                builder_.note(fmt::format("the table {} has no column \"{}\" and was not read", table, needed));
                return std::nullopt;
            }
        }
        return columns;
    }

    void readNames()
    {
        if (columnsOf("StringIds").names.empty()) {
            builder_.note("the table StringIds is missing, so kernels have no names");
            return;
        }
        Query query(database_.get(), "SELECT id, value FROM StringIds");
        while (query.next()) {
            names_[query.integer(0)] = builder_.name(query.text(1));
        }
        broke_ = broke_ || query.broke();
    }

    std::uint32_t nameOf(std::int64_t id, std::string_view otherwise)
    {
        const auto known = names_.find(id);
        return known != names_.end() ? known->second : builder_.name(otherwise);
    }

    bool look(int& rows)
    {
        if (++rows % rows_between_looks == 0) {
            cancelled_ = watch_.stop.stop_requested();
            if (watch_.progress) {
                // How many rows there are is not known without reading them.
                watch_.progress(1.0 - 1.0 / (1.0 + ++looks_ / 16.0));
            }
        }
        return !cancelled_;
    }

    std::size_t laneOf(const Place& place, std::int64_t stream)
    {
        const auto [found, is_new] = lanes_.try_emplace({place, stream}, 0);
        if (is_new) {
            found->second = builder_.addLane(0, "", 0);
            places_.insert(place);
        }
        return found->second;
    }

    static bool readSpan(const Query& query, Interval& interval)
    {
        interval.begin_ns = query.integer(0);
        interval.end_ns = query.integer(1);
        return query.isInteger(0) && query.isInteger(1) && interval.begin_ns >= -latest_ns &&
               interval.end_ns >= interval.begin_ns && interval.end_ns <= latest_ns;
    }

    /// Columns of `rest` follow start, end, process, device and stream. The number of tables read: 0 or 1.
    template <class Fill>
    int readTable(const std::string& table, const Columns& columns, const std::string& rest, Fill fill)
    {
        Query query(database_.get(),
                    fmt::format("SELECT start, \"end\", {}, {}, {}, {} FROM {}", columns.orElse("globalPid", "0"),
                                columns.orElse("deviceId", "0"), columns.orElse("streamId", "0"), rest, table));
        std::uint64_t bad = 0;
        for (int rows = 0; query.next() && look(rows);) {
            Interval interval;
            if (!readSpan(query, interval) || !fill(query, interval)) {
                ++bad;
                continue;
            }
            builder_.add(laneOf({query.integer(2), query.integer(3)}, query.integer(4)), interval);
        }
        if (bad > 0) {
            builder_.note(fmt::format("{} rows of {} have no usable times and were left out", bad, table));
            builder_.drop(bad);
        }
        broke_ = broke_ || (query.broke() && !cancelled_);
        return 1;
    }

    int readKernels()
    {
        const std::string table = "CUPTI_ACTIVITY_KIND_KERNEL";
        const auto columns = activityTable(table);
        if (!columns) {
            return 0;
        }
        const std::string name = columns->has("demangledName") ? "demangledName" : columns->orElse("shortName", "-1");
        return readTable(table, *columns, name, [&](const Query& query, Interval& interval) {
            interval.name = nameOf(query.integer(5), "kernel");
            interval.activity =
                isCommunicationKernel(builder_.nameText(interval.name)) ? Activity::communication : Activity::compute;
            return true;
        });
    }

    int readCopies()
    {
        const std::string table = "CUPTI_ACTIVITY_KIND_MEMCPY";
        const auto columns = activityTable(table);
        if (!columns) {
            return 0;
        }
        const std::string rest = columns->orElse("copyKind", "0") + ", " + columns->orElse("bytes", "0");
        return readTable(table, *columns, rest, [&](const Query& query, Interval& interval) {
            const auto kind = std::clamp<std::int64_t>(query.integer(5), 0, copy_names.size() - 1);
            interval.name = builder_.name(copy_names[static_cast<std::size_t>(kind)]);
            interval.activity = kind == peer_copy ? Activity::communication : Activity::copy;
            interval.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, query.integer(6)));
            return true;
        });
    }

    int readFills()
    {
        const std::string table = "CUPTI_ACTIVITY_KIND_MEMSET";
        const auto columns = activityTable(table);
        if (!columns) {
            return 0;
        }
        return readTable(table, *columns, columns->orElse("bytes", "0"), [&](const Query& query, Interval& interval) {
            interval.name = builder_.name("fill");
            interval.activity = Activity::copy;
            interval.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, query.integer(5)));
            return true;
        });
    }

    /// The host's waits, on a lane of the process' first device.
    void readSynchronizations()
    {
        const std::string table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
        const auto columns = activityTable(table);
        if (!columns) {
            return;
        }
        Query query(database_.get(),
                    fmt::format("SELECT start, \"end\", {}, {} FROM {}", columns->orElse("globalPid", "0"),
                                columns->orElse("syncType", "0"), table));
        const std::uint32_t name = builder_.name("host waits for the GPU");
        std::uint64_t homeless = 0;
        for (int rows = 0; query.next() && look(rows);) {
            Interval interval;
            if (query.integer(3) == stream_wait_event || !readSpan(query, interval)) {
                continue;
            }
            const auto home = std::ranges::find(places_, query.integer(2), &Place::process);
            if (home == places_.end()) {
                ++homeless;
                continue;
            }
            interval.name = name;
            interval.activity = Activity::wait;
            const auto [found, is_new] = wait_lanes_.try_emplace(*home, 0);
            if (is_new) {
                found->second = builder_.addLane(0, "", 0);
            }
            builder_.add(found->second, interval);
        }
        if (homeless > 0) {
            builder_.note(fmt::format("{} waits of processes without GPU work were left out", homeless));
        }
        broke_ = broke_ || (query.broke() && !cancelled_);
    }

    void readDevices()
    {
        const Columns columns = columnsOf("TARGET_INFO_GPU");
        if (!columns.has("name")) {
            builder_.note("the table TARGET_INFO_GPU is missing, so the GPUs have no names");
            return;
        }
        Query query(database_.get(), "SELECT name FROM TARGET_INFO_GPU LIMIT 64");
        std::map<std::string, int> counts;
        while (query.next()) {
            ++counts[std::string(query.text(0))];
        }
        for (const auto& [name, count] : counts) {
            builder_.note(fmt::format("recorded on {} × {}", count, name));
        }
    }

    void nameLanes()
    {
        std::map<Place, int> ranks;
        for (const Place& place : places_) {
            ranks[place] = std::min(static_cast<int>(ranks.size()), most_ranks - 1);
        }
        for (const auto& [key, lane] : lanes_) {
            builder_.renameLane(lane, ranks[key.first], fmt::format("stream {}", key.second), 0);
        }
        for (const auto& [place, lane] : wait_lanes_) {
            builder_.renameLane(lane, ranks[place], "host waits", 2);
        }
    }

    const std::filesystem::path path_;
    const ImportWatch& watch_;
    std::unique_ptr<sqlite3, Closer> database_;
    TimelineBuilder builder_;
    std::unordered_map<std::int64_t, std::uint32_t> names_;
    std::map<std::pair<Place, std::int64_t>, std::size_t> lanes_;
    std::map<Place, std::size_t> wait_lanes_;
    std::set<Place> places_;
    double looks_ = 0;
    bool cancelled_ = false, broke_ = false;
};

}  // namespace

Result<Timeline> importNsys(const std::filesystem::path& path, const ImportWatch& watch)
{
    return NsysImport(path, watch).run();
}

}  // namespace cuco
