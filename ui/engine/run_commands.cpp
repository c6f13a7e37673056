// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/engine_bridge.h"
#include "ui/engine/run_model.h"
#include "ui/fast_path/fast_path_outline.h"

#include <algorithm>
#include <utility>

namespace cuco::ui {

void RunModel::createAndStart(const RunConfig& config)
{
    connectBridge();
    snapshot_.config = config;
    access_.agreed = true;  // who begins a run has chosen its provider
    bridge_->create(path_, config, access_);
    bridge_->perform([](RunController& controller) -> Result<void> {
        controller.start();
        return {};
    });
    Q_EMIT activityChanged();
}

void RunModel::perform(std::function<Result<void>(RunController&)> command, Done done)
{
    const bool opens = !bridge_;
    if (opens) {
        connectBridge();
        bridge_->open(path_, access_);
    }
    bridge_->perform(std::move(command), std::move(done));
    if (opens) {
        Q_EMIT activityChanged();
    }
}

void RunModel::start()
{
    perform([](RunController& controller) -> Result<void> {
        controller.start();
        return {};
    });
}

void RunModel::pause()
{
    perform([](RunController& controller) -> Result<void> {
        controller.pause();
        return {};
    });
}

void RunModel::resume()
{
    perform([](RunController& controller) -> Result<void> {
        controller.resume();
        return {};
    });
}

void RunModel::stop()
{
    perform([](RunController& controller) -> Result<void> {
        controller.stop();
        return {};
    });
}

void RunModel::promote(const QString& id, const QString& reason)
{
    perform([id = id.toStdString(), reason = reason.toStdString()](RunController& controller) {
        return controller.promote(id, reason);
    });
}

void RunModel::reject(const QString& id, const QString& reason)
{
    perform([id = id.toStdString(), reason = reason.toStdString()](RunController& controller) {
        return controller.reject(id, reason);
    });
}

void RunModel::undo()
{
    perform([count = lastActOf(snapshot_.decisions).decisions.size()](RunController& controller) -> Result<void> {
        for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i) {
            if (auto undone = controller.undo(); !undone) {
                return undone;
            }
        }
        return {};
    });
}

bool RunModel::canUndo() const
{
    return std::any_of(snapshot_.decisions.begin(), snapshot_.decisions.end(),
                       [](const Decision& decision) { return !decision.undone; });
}

void RunModel::submit(const QString& parent, const std::string& source, const QString& note, Done done)
{
    perform([parent = parent.toStdString(), source,
             note = note.toStdString()](RunController& controller) { return controller.submit(parent, source, note); },
            std::move(done));
}

void RunModel::editScratchpad(const QString& text, Done done)
{
    perform([text = text.toStdString()](RunController& controller) { return controller.editScratchpad(text); },
            std::move(done));
}

void RunModel::continueFrom(const QString& id)
{
    const std::vector<std::string> later = attemptsAfter(snapshot_, id.toStdString());
    perform(
        [later, reason = continuingReason(id.toStdString(), later.size())](RunController& controller) -> Result<void> {
            for (const std::string& attempt : later) {
                if (auto rejected = controller.reject(attempt, reason); !rejected) {
                    return rejected;
                }
            }
            controller.resume();
            return {};
        });
}

std::optional<QString> RunModel::consentQuestion() const
{
    const auto question = access_.agreed ? std::nullopt : consentNeeded(snapshot_.config.provider);
    return question ? std::optional(QString::fromStdString(*question)) : std::nullopt;
}

void RunModel::agreeToProvider()
{
    access_.agreed = true;
    if (!isActive()) {
        bridge_.reset();
    }
}

}  // namespace cuco::ui
