// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_controller.h"
#include "core/run/run_models.h"

#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace cuco::ui {

/// The one way between the GUI thread and the engine. Opening happens on a worker thread; the engine's
/// events are collected there and handed over on the GUI thread, in order and by value.
class EngineBridge : public QObject {
    Q_OBJECT

public:
    using Command = std::function<Result<void>(RunController&)>;
    /// What became of a command, on the GUI thread.
    using Done = std::function<void(const Result<void>&)>;

    EngineBridge();
    /// Stops the run and waits for the engine's threads.
    ~EngineBridge() override;

    void create(const QString& path, const RunConfig& config, const ModelAccess& access);
    void open(const QString& path, const ModelAccess& access);
    /// At once, or as soon as the engine is open; not when it cannot be opened. Who gives `done` is told of failures
    /// there, and not by commandFailed.
    void perform(Command command, Done done = {});

    bool isOpening() const { return opening_; }
    bool isOpen() const { return controller_ != nullptr; }

Q_SIGNALS:
    /// The file exists and is held; the commands that waited are performed after this.
    void opened();
    /// `told`: whoever wanted something knows it already.
    void openFailed(const cuco::Error& error, bool told);
    void commandFailed(const cuco::Error& error);
    void eventsArrived(const std::vector<cuco::RunEvent>& events);

private:
    struct Mailbox;
    using Opener = std::function<Result<std::unique_ptr<RunController>>(RunObserver)>;

    void openWith(Opener opener);
    void collect();
    void carryOut(const Command& command, const Done& done);

    std::shared_ptr<Mailbox> mailbox_;
    std::unique_ptr<RunController> controller_;
    std::vector<std::pair<Command, Done>> waiting_;
    bool opening_ = false;
};

}  // namespace cuco::ui
