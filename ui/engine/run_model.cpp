// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/run_model.h"

#include "ui/engine/engine_bridge.h"
#include "ui/engine/run_session.h"

#include <QFileInfo>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

namespace cuco::ui {

namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

Error noFileYet()
{
    return {RunModel::tr("The run's file does not exist yet.").toStdString(),
            {},
            RunModel::tr("Wait until the run has been prepared.").toStdString()};
}

}  // namespace

Result<std::unique_ptr<RunModel>> RunModel::open(const QString& path)
{
    auto file = RunFile::open(std::filesystem::path(path.toStdString()), RunFile::Access::read);
    if (!file) {
        return std::unexpected(file.error());
    }
    auto snapshot = (*file)->snapshot();
    if (!snapshot) {
        return std::unexpected(snapshot.error());
    }
    auto model = std::make_unique<RunModel>(std::move(*snapshot), QFileInfo(path).absoluteFilePath());
    model->file_ = std::move(*file);
    if (model->snapshot_.state == RunState::running) {
        model->follow_timer_.start();
    }
    return model;
}

RunModel::RunModel(RunSnapshot snapshot, QString path) : path_(std::move(path)), snapshot_(std::move(snapshot))
{
    index();
    access_.person = prompts_.exchange();
    follow_timer_.setInterval(std::chrono::seconds(1));
    connect(&follow_timer_, &QTimer::timeout, this, &RunModel::followFile);
}

RunModel::~RunModel() = default;

void RunModel::index()
{
    index_by_id_.clear();
    index_by_id_.reserve(static_cast<qsizetype>(snapshot_.candidates.size()));
    for (std::size_t i = 0; i < snapshot_.candidates.size(); ++i) {
        index_by_id_.insert(QString::fromStdString(snapshot_.candidates[i].id), static_cast<int>(i));
    }
}

const Candidate* RunModel::candidate(const QString& id) const
{
    const auto found = index_by_id_.constFind(id);
    return found == index_by_id_.cend() ? nullptr : &snapshot_.candidates[static_cast<std::size_t>(*found)];
}

Result<std::string> RunModel::source(const QString& id)
{
    if (!file_) {
        return std::unexpected(noFileYet());
    }
    return isBaselineId(id) ? file_->baselineSource(baselineName(id)) : file_->source(id.toStdString());
}

Result<std::optional<Timeline>> RunModel::timeline(const QString& id)
{
    if (!file_) {
        return std::unexpected(noFileYet());
    }
    return isBaselineId(id) ? file_->baselineTimeline(baselineName(id)) : file_->timeline(id.toStdString());
}

Result<std::vector<AgentStep>> RunModel::steps()
{
    if (!file_) {
        return std::unexpected(noFileYet());
    }
    return file_->steps();
}

Result<std::vector<AgentStep>> RunModel::scratchpads()
{
    if (!file_) {
        return std::unexpected(noFileYet());
    }
    return file_->scratchpads();
}

Result<std::vector<LlmCallSummary>> RunModel::llmCalls()
{
    if (!file_) {
        return std::unexpected(noFileYet());
    }
    return file_->llmCalls();
}

Result<LlmCall> RunModel::llmCall(int id)
{
    if (!file_) {
        return std::unexpected(noFileYet());
    }
    return file_->llmCall(id);
}

Result<std::vector<int>> RunModel::searchLlmCalls(const QString& text)
{
    if (!file_) {
        return std::unexpected(noFileYet());
    }
    return file_->searchLlmCalls(text.toStdString());
}

Result<RunScreen> RunModel::screen()
{
    const auto paths = DataPaths::find();
    if (!paths) {
        return std::unexpected(paths.error());
    }
    if (!file_) {
        return std::unexpected(noFileYet());
    }
    return RunScreen::create(*paths, *file_, snapshot_.config);
}

void RunModel::followFile()
{
    auto latest = file_->snapshot();
    if (!latest) {
        follow_timer_.stop();
        Q_EMIT failed(latest.error());
        return;
    }
    // As if the engine had told of it, so that the views keep where they are.
    if (latest->baselines.size() != snapshot_.baselines.size()) {
        apply(BaselinesMeasured{latest->baselines, latest->modelled});
    }
    bool has_new = false;
    const std::vector<Decision> before = snapshot_.decisions;
    const bool decided = !(before == latest->decisions);
    if (decided) {
        apply(DecisionsChanged{latest->decisions});
    }
    const auto decidedOn = [&](const Candidate& candidate) {
        const Decision* then = lastDecisionOn(before, candidate.id);
        const Decision* now = lastDecisionOn(latest->decisions, candidate.id);
        return (then == nullptr) != (now == nullptr) || (then && *then != *now);
    };
    for (const Candidate& candidate : latest->candidates) {
        const Candidate* known = this->candidate(QString::fromStdString(candidate.id));
        has_new = has_new || !known;
        if (!known || known->state != candidate.state || (decided && decidedOn(candidate))) {
            apply(CandidateChanged{candidate});
        }
    }
    if (has_new) {
        apply(StepsAdded{});
    }
    for (std::size_t entry = snapshot_.log.size(); entry < latest->log.size(); ++entry) {
        apply(Logged{latest->log[entry]});
    }
    if (latest->state != snapshot_.state) {
        apply(StateChanged{latest->state, latest->message});
    }
    if (snapshot_.state != RunState::running) {
        follow_timer_.stop();
    }
}

void RunModel::connectBridge()
{
    follow_timer_.stop();
    bridge_ = std::make_unique<EngineBridge>();
    connect(bridge_.get(), &EngineBridge::opened, this, [this] {
        reload();
        Q_EMIT activityChanged();
    });
    connect(bridge_.get(), &EngineBridge::openFailed, this, [this](const Error& error, bool told) {
        // The bridge is in the middle of its own call here, so it goes later.
        bridge_.release()->deleteLater();
        if (!file_) {
            apply(StateChanged{RunState::failed, error.what});
        }
        Q_EMIT activityChanged();
        if (!told) {
            Q_EMIT failed(error);
        }
    });
    connect(bridge_.get(), &EngineBridge::commandFailed, this, &RunModel::failed);
    connect(bridge_.get(), &EngineBridge::eventsArrived, this, [this](const std::vector<RunEvent>& events) {
        for (const RunEvent& event : events) {
            apply(event);
        }
    });
}

void RunModel::reload()
{
    if (!file_) {
        auto file = RunFile::open(std::filesystem::path(path_.toStdString()), RunFile::Access::read);
        if (!file) {
            Q_EMIT failed(file.error());
            return;
        }
        file_ = std::move(*file);
    }
    auto snapshot = file_->snapshot();
    if (!snapshot) {
        Q_EMIT failed(snapshot.error());
        return;
    }
    snapshot_ = std::move(*snapshot);
    index();
    Q_EMIT reset();
}

bool RunModel::isActive() const
{
    return bridge_ && (bridge_->isOpening() || snapshot_.state == RunState::running);
}

QString RunModel::activity() const
{
    if (!bridge_) {
        return {};
    }
    if (bridge_->isOpening()) {
        return file_ ? tr("Opening the run for writing…") : tr("Preparing the run…");
    }
    if (snapshot_.state == RunState::running && snapshot_.baselines.empty()) {
        return tr("Building the harness and measuring the baselines…");
    }
    return {};
}

void RunModel::apply(const RunEvent& event)
{
    std::visit(Overloaded{
                   [this](const StateChanged& changed) {
                       snapshot_.state = changed.state;
                       snapshot_.message = changed.message;
                       Q_EMIT stateChanged();
                       Q_EMIT activityChanged();
                   },
                   [this](const BaselinesMeasured& measured) {
                       snapshot_.baselines = measured.baselines;
                       snapshot_.modelled = measured.modelled;
                       Q_EMIT baselinesChanged();
                       Q_EMIT activityChanged();
                   },
                   [this](const CandidateChanged& changed) {
                       const auto id = QString::fromStdString(changed.candidate.id);
                       if (const auto found = index_by_id_.constFind(id); found != index_by_id_.cend()) {
                           snapshot_.candidates[static_cast<std::size_t>(*found)] = changed.candidate;
                       } else {
                           index_by_id_.insert(id, static_cast<int>(snapshot_.candidates.size()));
                           snapshot_.candidates.push_back(changed.candidate);
                       }
                       Q_EMIT candidateChanged(id);
                   },
                   [this](const StepsAdded&) { Q_EMIT stepsAdded(); },
                   [this](const DecisionsChanged& changed) {
                       snapshot_.decisions = changed.decisions;
                       Q_EMIT decisionsChanged();
                   },
                   [this](const Logged& entry) {
                       snapshot_.log.push_back(entry.entry);
                       Q_EMIT logged();
                   },
                   [this](const Progress& progress) {
                       progress_ = progress;
                       Q_EMIT progressChanged();
                   },
                   [this](const LlmCallStarted& started) {
                       running_calls_[started.running] = {started, {}};
                       Q_EMIT llmCallStarted(started.running);
                   },
                   [this](const LlmText& piece) {
                       running_calls_[piece.running].text += piece.text;
                       Q_EMIT llmText(piece.running);
                   },
                   [this](const LlmCallEnded& ended) {
                       running_calls_.erase(ended.running);
                       Q_EMIT llmCallEnded(ended);
                   },
               },
               event);
}

}  // namespace cuco::ui
