// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/node_probes.h"

#include "core/run/open_run.h"

#include <QFutureWatcher>
#include <QSettings>
#include <QStringList>
#include <QtConcurrent>

#include <algorithm>
#include <memory>

namespace cuco::ui {

namespace {

const auto added_nodes = QStringLiteral("nodes/added");

NodeProbe probeNode(const std::string& name, std::stop_token stop)
{
    const auto unusable = [&](const Error& error) {
        NodeProbe probe;
        probe.node = name;
        probe.problems.push_back(error);
        return probe;
    };
    auto node = makeNode(name);
    if (!node) {
        return unusable(node.error());
    }
    auto probe = (*node)->probe(stop);
    return probe ? *probe : unusable(probe.error());
}

}  // namespace

NodeProbes::NodeProbes(QObject* parent) : QObject(parent)
{
    for (const NodeKind kind : {NodeKind::local, NodeKind::emulated}) {
        entries_.push_back({std::string(toString(kind)), std::nullopt});
    }
    for (const QString& name : QSettings().value(added_nodes).toStringList()) {
        if (const auto span = parseHostSpan(name.toStdString()); span && *span) {
            entries_.push_back({name.toStdString(), std::nullopt});
        }
    }
}

NodeProbes::~NodeProbes()
{
    stop_.request_stop();
}

void NodeProbes::start()
{
    if (started_) {
        return;
    }
    started_ = true;
    // Asking hosts starts programs on them: not before somebody wants to use them.
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (!parseHostSpan(entries_[i].name)) {
            probe(i);
        }
    }
}

Result<void> NodeProbes::add(const QString& name)
{
    const std::string wanted = name.trimmed().toStdString();
    const auto span = parseHostSpan(wanted);
    if (!span) {
        return failure("A launcher is missing.", "", "Begin with mpirun: or srun:, as in mpirun:gpu-a=4,gpu-b=4.");
    }
    if (!*span) {
        return std::unexpected(span->error());
    }
    if (std::ranges::find(entries_, wanted, &Entry::name) == entries_.end()) {
        entries_.push_back({wanted, std::nullopt});
        QSettings settings;
        settings.setValue(added_nodes, settings.value(added_nodes).toStringList() << QString::fromStdString(wanted));
        Q_EMIT changed();
    }
    look(QString::fromStdString(wanted));
    return {};
}

void NodeProbes::look(const QString& name)
{
    const auto entry = std::ranges::find(entries_, name.toStdString(), &Entry::name);
    if (entry != entries_.end() && !(entry->probe && entry->probe->usable)) {
        probe(static_cast<std::size_t>(entry - entries_.begin()));
    }
}

void NodeProbes::probe(std::size_t entry)
{
    if (!asked_.insert(entries_[entry].name).second) {
        return;
    }
    auto* watcher = new QFutureWatcher<NodeProbe>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, entry] {
        entries_[entry].probe = watcher->result();
        asked_.erase(entries_[entry].name);
        watcher->deleteLater();
        Q_EMIT changed();
    });
    watcher->setFuture(QtConcurrent::run(probeNode, entries_[entry].name, stop_.get_token()));
    Q_EMIT changed();
}

const NodeProbe* NodeProbes::find(const QString& name) const
{
    for (const Entry& entry : entries_) {
        if (QString::fromStdString(entry.name) == name && entry.probe) {
            return &*entry.probe;
        }
    }
    return nullptr;
}

QString NodeProbes::preferred() const
{
    for (const Entry& entry : entries_) {
        if (entry.probe && entry.probe->usable) {
            return QString::fromStdString(entry.name);
        }
    }
    return QString::fromUtf8(toString(NodeKind::emulated).data());
}

QString NodeProbes::describe(const NodeProbe& probe)
{
    if (!probe.usable) {
        return probe.problems.empty() ? tr("cannot be used") : QString::fromStdString(probe.problems.front().what);
    }
    QStringList parts;
    if (const auto span = parseHostSpan(probe.node); span && *span) {
        parts << tr("%1 GPUs on %2 hosts").arg((*span)->gpus()).arg((*span)->hosts.size());
    } else if (!probe.gpus.empty()) {
        parts << tr("%1 × %2").arg(probe.gpus.size()).arg(QString::fromStdString(probe.gpus.front().name));
    } else if (probe.modelled) {
        parts << tr("modelled times");
    }
    if (!probe.compiler.empty()) {
        parts << QString::fromStdString(probe.compiler);
    }
    return parts.join(QStringLiteral(" · "));
}

QString NodeProbes::state(const Entry& entry) const
{
    if (asked_.contains(entry.name)) {
        return tr("looking…");
    }
    return entry.probe ? describe(*entry.probe) : tr("not asked yet");
}

}  // namespace cuco::ui
