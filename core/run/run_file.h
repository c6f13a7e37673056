// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_snapshot.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace cuco {

/// A `.cuco` file: one SQLite database with one run (docs/run-file.md has the schema). Each method is one
/// transaction, so a kill loses nothing that had returned. Methods may be called from several threads.
class RunFile {
public:
    enum class Access {
        read,        ///< never changes the file; works beside a writer
        write,       ///< takes the writer's lock; an error when another process holds it
    };

    /// Fails when the path exists.
    static Result<std::unique_ptr<RunFile>> create(const std::filesystem::path& path, const RunConfig& config);
    /// Errors: missing, no run file, truncated or damaged, of a newer version, open for writing elsewhere.
    static Result<std::unique_ptr<RunFile>> open(const std::filesystem::path& path, Access access);
    ~RunFile();

    const std::filesystem::path& path() const { return path_; }
    Access access() const { return access_; }

    Result<RunSnapshot> snapshot();
    Result<std::string> source(const std::string& candidate_id);
    Result<std::optional<Timeline>> timeline(const std::string& candidate_id);
    Result<std::optional<Timeline>> baselineTimeline(const std::string& name);
    Result<std::string> baselineSource(const std::string& name);
    Result<std::vector<AgentStep>> steps();

    Result<void> setState(RunState state, const std::string& message);
    Result<void> addBaseline(const Baseline& baseline, const std::string& source,
                             const std::optional<Timeline>& timeline, bool modelled);
    /// Stores the candidate as `proposed`, with its source and its steps, whose ids it assigns.
    Result<std::vector<AgentStep>> addCandidate(const Candidate& candidate, const std::string& source,
                                                std::vector<AgentStep> steps);
    Result<void> settleCandidate(const Candidate& candidate, const std::optional<Timeline>& timeline);
    Result<void> addDecision(Decision decision);
    Result<void> undoLastDecision();  ///< an error when there is none
    Result<void> addLog(const LogEntry& entry);
    /// Folds the WAL into the one file.
    Result<void> checkpoint();

private:
    RunFile() = default;
    std::filesystem::path path_;
    Access access_ = Access::read;
    sqlite3* db_ = nullptr;
    int lock_fd_ = -1;
    std::mutex mutex_;
};

}  // namespace cuco
