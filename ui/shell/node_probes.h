// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/node.h"

#include <QObject>
#include <QString>

#include <optional>
#include <set>
#include <stop_token>
#include <vector>

namespace cuco::ui {

/// The nodes there are: this machine with and without GPUs, probed once on another thread, and hosts that a person has
/// added, which are kept in QSettings and asked when one of them is wanted. A node that is not probed yet has no probe.
class NodeProbes : public QObject {
    Q_OBJECT

public:
    struct Entry {
        std::string name;
        std::optional<NodeProbe> probe;
    };

    explicit NodeProbes(QObject* parent = nullptr);
    /// Probes that are under way are stopped.
    ~NodeProbes() override;

    void start();
    /// Hosts as core/nodes/host_span.h reads them; they are asked at once. The error is for the person who wrote them.
    Result<void> add(const QString& name);
    /// Probes it unless it is known to be usable or that is under way.
    void look(const QString& name);
    const std::vector<Entry>& entries() const { return entries_; }
    const NodeProbe* find(const QString& name) const;
    /// The name of the first that can run, a GPU before the emulator; "emulated" while nothing is known.
    QString preferred() const;
    /// "1 × NVIDIA H200, nvcc 13.0", or what keeps it from being used.
    static QString describe(const NodeProbe& probe);
    /// The same, or "looking…" while it is asked, or "not asked yet".
    QString state(const Entry& entry) const;

Q_SIGNALS:
    void changed();

private:
    void probe(std::size_t entry);

    std::vector<Entry> entries_;
    std::set<std::string> asked_;  ///< those that have not answered yet
    std::stop_source stop_;
    bool started_ = false;
};

}  // namespace cuco::ui
