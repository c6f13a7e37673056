// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/node.h"

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

namespace cuco::ui {

/// The nodes there are, probed once on another thread. A node that is not probed yet has no probe.
class NodeProbes : public QObject {
    Q_OBJECT

public:
    struct Entry {
        std::string name;
        std::optional<NodeProbe> probe;
    };

    explicit NodeProbes(QObject* parent = nullptr);

    void start();
    const std::vector<Entry>& entries() const { return entries_; }
    const NodeProbe* find(const QString& name) const;
    /// The name of the first that can run, a GPU before the emulator; "emulated" while nothing is known.
    QString preferred() const;
    /// "1 × NVIDIA H200, nvcc 13.0", or what keeps it from being used.
    static QString describe(const NodeProbe& probe);

Q_SIGNALS:
    void changed();

private:
    std::vector<Entry> entries_;
    bool started_ = false;
};

}  // namespace cuco::ui
