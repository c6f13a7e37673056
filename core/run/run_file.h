// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/llm_store.h"
#include "core/run/run_snapshot.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cuco {

class Database;
class WriterLock;

/// A node as a session of the run found it.
struct RunEnvironment {
    std::int64_t time_ms = 0;  ///< Unix time
    std::string probe;         ///< JSON, as `cucoctl node probe --json` has it
};

/// A `.cuco` file: one SQLite database with one run (docs/run-file.md has the schema). Each method is one
/// transaction, so a kill loses nothing that had returned. Nor does the machine's end, but for the latest steps and log
/// lines, and candidates that are only proposed. Methods may be called from several threads.
class RunFile {
public:
    enum class Access {
        read,   ///< works beside a writer; changes nothing, but rolls back what a killed writer had begun
        write,  ///< takes the writer's lock; an error when another process holds it
    };

    /// Creates the file and opens it for writing. Fails when the path exists.
    static Result<std::unique_ptr<RunFile>> create(const std::filesystem::path& path, const RunConfig& config);
    /// Errors: missing, no run file, truncated or damaged, of a newer version, open for writing elsewhere.
    static Result<std::unique_ptr<RunFile>> open(const std::filesystem::path& path, Access access);
    ~RunFile();

    const std::filesystem::path& path() const { return path_; }
    Access access() const { return access_; }

    /// Compilers' logs (Evaluation::detail) are cut to their first 4,000 bytes; `evaluation` has them whole. A run that
    /// is stored as running although nobody holds the writer's lock is reported as stopped.
    Result<RunSnapshot> snapshot();
    /// Nothing while the candidate is not settled.
    Result<std::optional<Evaluation>> evaluation(const std::string& candidate_id);
    Result<std::string> source(const std::string& candidate_id);
    Result<std::optional<Timeline>> timeline(const std::string& candidate_id);
    Result<std::optional<Timeline>> baselineTimeline(const std::string& name);
    Result<std::string> baselineSource(const std::string& name);
    Result<std::vector<AgentStep>> steps();  ///< by id
    /// Those that are scratchpads (core/agents/scratchpad.h), by id.
    Result<std::vector<AgentStep>> scratchpads();
    /// By id, without texts. A file of format 1 has none.
    Result<std::vector<LlmCallSummary>> llmCalls();
    Result<LlmCall> llmCall(int id, LlmTexts texts = LlmTexts::all);
    /// Calls with the text (without a line break) in a message, an answer or an error; a to z in either case. By id.
    Result<std::vector<int>> searchLlmCalls(const std::string& text);
    /// All calls with their answers, in the order in which they ended.
    Result<void> visitLlmAnswers(const std::function<void(const StoredAnswer&)>& visit);
    /// What a ReplayClient gives again.
    Result<Recording> llmRecording();
    /// What the candidate's promotions found, by time. A file before format 3 has none.
    Result<std::vector<Remeasurement>> remeasurements(const std::string& candidate_id);
    /// The nodes it ran on, by time. A file before format 3 has none.
    Result<std::vector<RunEnvironment>> environments();
    /// When the candidate's evaluation was stored; nothing while it is not settled.
    Result<std::optional<std::int64_t>> settledMs(const std::string& candidate_id);

    Result<void> setState(RunState state, const std::string& message);
    Result<void> addBaseline(const Baseline& baseline, const std::string& source,
                             const std::optional<Timeline>& timeline, bool modelled);
    /// Stores the candidate as `proposed`, with its source and its steps, whose ids it assigns.
    Result<std::vector<AgentStep>> addCandidate(const Candidate& candidate, const std::string& source,
                                                std::vector<AgentStep> steps);
    /// Stores steps that need no candidate yet; their ids are assigned, `parent` is the id of a stored step or 0.
    enum class Author { agent, person };
    Result<std::vector<AgentStep>> addSteps(std::vector<AgentStep> steps, Author author = Author::agent);
    /// Gives the call's id. Its step must be stored already, or is forgotten.
    Result<int> addLlmCall(LlmCall call);
    /// `tuned_source`: what became of its source; null: it is as it was proposed.
    Result<void> settleCandidate(const Candidate& candidate, const std::optional<Timeline>& timeline,
                                 const std::string* tuned_source = nullptr);
    /// A program of a person's that is no candidate yet: its text, and a step that names the text's sha256.
    Result<AgentStep> addSubmission(AgentStep step, const std::string& source);
    Result<std::string> sourceWithSha256(const std::string& sha256);
    Result<void> addDecision(const Decision& decision);  ///< with its id
    Result<void> undoLastDecision();                     ///< an error when there is none
    /// The decision then stands or is refused.
    Result<void> addRemeasurement(const Remeasurement& remeasurement);
    /// A node's probe as JSON, found now; not stored when it equals the last one.
    Result<void> addEnvironment(const std::string& probe);
    Result<void> addLog(const LogEntry& entry);
    /// Folds the WAL into the one file.
    Result<void> checkpoint();

private:
    RunFile(std::filesystem::path path, Access access, std::unique_ptr<Database> database,
            std::unique_ptr<WriterLock> lock, std::int64_t schema_version);
    enum class Parents { stored, among_these };
    Result<void> storeSteps(std::vector<AgentStep>& steps, Parents parents);
    /// Whether the file has the tables of a format, under the lock. Reading does not bring an older one up to date.
    Result<bool> hasFormat(std::int64_t version);
    template <class Value>
    Result<Value> inLlmStore(const std::function<Result<Value>(LlmStore&)>& read);
    Result<std::vector<AgentStep>> readSteps(const std::string& condition);
    Result<std::optional<Timeline>> readTimeline(std::string_view sql, const std::string& key);

    std::filesystem::path path_;
    Access access_;
    std::unique_ptr<WriterLock> lock_;  ///< released after the database is closed
    std::unique_ptr<Database> database_;
    std::int64_t schema_version_;
    std::mutex mutex_;
};

}  // namespace cuco
