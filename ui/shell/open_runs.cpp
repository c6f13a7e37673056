// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/open_runs.h"

#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace cuco::ui {

OpenRuns::OpenRuns(KeySource keys, QObject* parent) : QObject(parent), keys_(std::move(keys)) {}

Result<RunModel*> OpenRuns::open(const QString& path)
{
    const QString absolute = QFileInfo(path).absoluteFilePath();
    const auto found =
        std::find_if(runs_.begin(), runs_.end(), [&](const auto& run) { return run->path() == absolute; });
    if (found != runs_.end()) {
        return found->get();
    }
    auto run = RunModel::open(absolute);
    if (!run) {
        return std::unexpected(run.error());
    }
    return add(std::move(*run));
}

RunModel* OpenRuns::create(const QString& path, const RunConfig& config)
{
    RunModel* run = add(std::make_unique<RunModel>(RunSnapshot{}, QFileInfo(path).absoluteFilePath()));
    run->createAndStart(config);
    return run;
}

RunModel* OpenRuns::add(std::unique_ptr<RunModel> run)
{
    RunModel* added = run.get();
    added->setKeys(keys_);
    const auto changed = [this, added] { Q_EMIT runChanged(added); };
    connect(added, &RunModel::reset, this, changed);
    connect(added, &RunModel::candidateChanged, this, changed);
    connect(added, &RunModel::stateChanged, this, changed);
    connect(added, &RunModel::activityChanged, this, changed);
    connect(added, &RunModel::progressChanged, this, changed);
    connect(&added->prompts(), &PromptDesk::changed, this, changed);
    connect(added, &RunModel::failed, this, &OpenRuns::failed);
    runs_.push_back(std::move(run));
    Q_EMIT listChanged();
    return added;
}

void OpenRuns::close(RunModel* run)
{
    const auto found = std::find_if(runs_.begin(), runs_.end(), [run](const auto& open) { return open.get() == run; });
    if (found == runs_.end()) {
        return;
    }
    const auto closing = std::move(*found);
    runs_.erase(found);
    Q_EMIT listChanged();
}

}  // namespace cuco::ui
