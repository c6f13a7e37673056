// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/engine_bridge.h"

#include "core/run/open_run.h"

#include <QThreadPool>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

namespace cuco::ui {

/// Shared with the engine's threads, which may outlive the bridge for a moment.
struct EngineBridge::Mailbox {
    std::mutex mutex;
    EngineBridge* bridge = nullptr;  ///< null once the bridge is gone
    bool posted = false;
    std::vector<RunEvent> events;
    std::optional<Result<std::unique_ptr<RunController>>> opened;

    void post()
    {
        if (!bridge || posted) {
            return;
        }
        posted = true;
        QMetaObject::invokeMethod(bridge, &EngineBridge::collect, Qt::QueuedConnection);
    }
};

EngineBridge::EngineBridge() : mailbox_(std::make_shared<Mailbox>())
{
    mailbox_->bridge = this;
}

EngineBridge::~EngineBridge()
{
    {
        const std::lock_guard lock(mailbox_->mutex);
        mailbox_->bridge = nullptr;
    }
    controller_.reset();
}

void EngineBridge::create(const QString& path, const RunConfig& config, const ModelAccess& access)
{
    openWith([file = std::filesystem::path(path.toStdString()), config,
              access](RunObserver observer) -> Result<std::unique_ptr<RunController>> {
        auto paths = DataPaths::find();
        if (!paths) {
            return std::unexpected(paths.error());
        }
        return newRun(*paths, file, config, std::move(observer), access);
    });
}

void EngineBridge::open(const QString& path, const ModelAccess& access)
{
    openWith([file = std::filesystem::path(path.toStdString()),
              access](RunObserver observer) -> Result<std::unique_ptr<RunController>> {
        auto paths = DataPaths::find();
        if (!paths) {
            return std::unexpected(paths.error());
        }
        return openRun(*paths, file, std::move(observer), access);
    });
}

void EngineBridge::openWith(Opener opener)
{
    opening_ = true;
    QThreadPool::globalInstance()->start([mailbox = mailbox_, opener = std::move(opener)] {
        auto controller = opener([mailbox](const RunEvent& event) {
            const std::lock_guard lock(mailbox->mutex);
            if (mailbox->bridge) {
                mailbox->events.push_back(event);
                mailbox->post();
            }
        });
        const std::lock_guard lock(mailbox->mutex);
        if (mailbox->bridge) {
            mailbox->opened = std::move(controller);
            mailbox->post();
        }
    });
}

void EngineBridge::perform(Command command, Done done)
{
    if (!controller_) {
        waiting_.emplace_back(std::move(command), std::move(done));
        return;
    }
    carryOut(command, done);
}

void EngineBridge::carryOut(const Command& command, const Done& done)
{
    const Result<void> outcome = command(*controller_);
    if (done) {
        done(outcome);
    } else if (!outcome) {
        Q_EMIT commandFailed(outcome.error());
    }
}

void EngineBridge::collect()
{
    std::vector<RunEvent> events;
    std::optional<Result<std::unique_ptr<RunController>>> result;
    {
        const std::lock_guard lock(mailbox_->mutex);
        mailbox_->posted = false;
        events.swap(mailbox_->events);
        result.swap(mailbox_->opened);
    }
    if (result) {
        opening_ = false;
        if (*result) {
            controller_ = std::move(**result);
            Q_EMIT opened();
        } else {
            const auto waiting = std::exchange(waiting_, {});
            const bool told = !waiting.empty() && std::ranges::all_of(waiting, [](const auto& wanted) {
                return static_cast<bool>(wanted.second);
            });
            Q_EMIT openFailed(result->error(), told);
            for (const auto& [command, done] : waiting) {
                if (done) {
                    done(std::unexpected(result->error()));
                }
            }
            return;
        }
    }
    if (!events.empty()) {
        Q_EMIT eventsArrived(events);
    }
    if (controller_) {
        for (const auto& [command, done] : std::exchange(waiting_, {})) {
            carryOut(command, done);
        }
    }
}

}  // namespace cuco::ui
