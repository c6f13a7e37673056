// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_controller.h"
#include "core/run/run_models.h"
#include "core/run/run_screen.h"
#include "ui/engine/prompt_desk.h"

#include <QHash>
#include <QObject>
#include <QString>
#include <QTimer>

#include <functional>
#include <memory>
#include <optional>

namespace cuco::ui {

class EngineBridge;

/// A call that has not ended, with the answer as far as it came.
struct RunningCall {
    LlmCallStarted started;
    std::string text;
};

/// One run on the GUI thread: a snapshot kept current by the engine's events, what is read from the file
/// on demand, and the commands. Looking needs no writer; the first command opens the engine. While another
/// program runs it, the file is looked at again and again.
class RunModel : public QObject {
    Q_OBJECT

public:
    /// What became of a command.
    using Done = std::function<void(const Result<void>&)>;

    /// Opens a file to look at it.
    static Result<std::unique_ptr<RunModel>> open(const QString& path);
    /// A run that exists by value only, such as one whose file is still being made.
    explicit RunModel(RunSnapshot snapshot, QString path = {});
    ~RunModel() override;

    QString path() const { return path_; }
    const RunSnapshot& snapshot() const { return snapshot_; }
    const Progress& progress() const { return progress_; }
    const Candidate* candidate(const QString& id) const;

    Result<std::string> source(const QString& id);
    Result<std::optional<Timeline>> timeline(const QString& id);
    Result<std::vector<AgentStep>> steps();
    Result<std::vector<AgentStep>> scratchpads();
    Result<std::vector<LlmCallSummary>> llmCalls();
    Result<LlmCall> llmCall(int id);
    Result<std::vector<int>> searchLlmCalls(const QString& text);
    /// What a person's source of this run is screened by before it is submitted.
    Result<RunScreen> screen();
    PromptDesk& prompts() { return prompts_; }
    const PromptDesk& prompts() const { return prompts_; }
    const std::map<int, RunningCall>& runningCalls() const { return running_calls_; }  ///< by `running`

    /// Where keys come from; before the first command.
    void setKeys(KeySource keys) { access_.keys = std::move(keys); }
    /// Makes the file and starts the run; preparing it happens on another thread.
    void createAndStart(const RunConfig& config);
    void start();
    void pause();
    void resume();
    void stop();
    void promote(const QString& id, const QString& reason);
    void reject(const QString& id, const QString& reason);
    void undo();  ///< the last act, also when it was several decisions
    bool canUndo() const;
    /// A child that a person wrote; `done` when it is stored, or why it is not.
    void submit(const QString& parent, const std::string& source, const QString& note, Done done);
    void editScratchpad(const QString& text, Done done);
    /// Goes on with a fast path from an earlier attempt: rejects the later ones, then resumes.
    void continueFrom(const QString& id);

    /// What a person must agree to before the run's provider is used; nothing when there is nothing to ask.
    std::optional<QString> consentQuestion() const;
    /// Not while the run is active: whoever holds the file already opened it without.
    void agreeToProvider();

    bool isActive() const;     ///< the engine works on it, or is being prepared to
    QString activity() const;  ///< what is being prepared, for the status bar; may be empty

    /// What an event of the engine does to the snapshot.
    void apply(const RunEvent& event);

Q_SIGNALS:
    void reset();
    void candidateChanged(const QString& id);
    void baselinesChanged();
    void stepsAdded();
    void decisionsChanged();
    void logged();
    void stateChanged();
    void progressChanged();
    void activityChanged();
    void llmCallStarted(int running);
    void llmText(int running);
    void llmCallEnded(const cuco::LlmCallEnded& call);
    void failed(const cuco::Error& error);

private:
    void index();
    void reload();
    void connectBridge();
    void followFile();
    void perform(std::function<Result<void>(RunController&)> command, Done done = {});

    QString path_;
    RunSnapshot snapshot_;
    Progress progress_;
    QHash<QString, int> index_by_id_;
    std::map<int, RunningCall> running_calls_;
    std::unique_ptr<RunFile> file_;  ///< read only; null while the file does not exist
    PromptDesk prompts_;             ///< the engine asks here to its end
    std::unique_ptr<EngineBridge> bridge_;
    ModelAccess access_;
    QTimer follow_timer_;  ///< runs while another program may be writing the file
};

}  // namespace cuco::ui
