// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_model.h"

#include <QObject>

#include <memory>
#include <vector>

namespace cuco::ui {

/// The runs that the window has open, in the order they were opened. Each goes on while another is looked at.
class OpenRuns : public QObject {
    Q_OBJECT

public:
    /// `keys` are for runs that ask models.
    explicit OpenRuns(KeySource keys = environmentKey, QObject* parent = nullptr);

    const std::vector<std::unique_ptr<RunModel>>& all() const { return runs_; }
    /// The run of the file, opened when it is not open yet.
    Result<RunModel*> open(const QString& path);
    /// A new file, on which the engine starts.
    RunModel* create(const QString& path, const RunConfig& config);
    /// A run by value.
    RunModel* add(std::unique_ptr<RunModel> run);
    /// Stops it first; what was in flight is evaluated again when it is resumed.
    void close(RunModel* run);

Q_SIGNALS:
    void listChanged();
    void runChanged(cuco::ui::RunModel* run);
    void failed(const cuco::Error& error);

private:
    KeySource keys_;
    std::vector<std::unique_ptr<RunModel>> runs_;
};

}  // namespace cuco::ui
