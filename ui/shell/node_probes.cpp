// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/node_probes.h"

#include "core/run/open_run.h"

#include <QFutureWatcher>
#include <QStringList>
#include <QtConcurrent>

#include <memory>

namespace cuco::ui {

namespace {

NodeProbe probeNode(const std::string& name)
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
    auto probe = (*node)->probe({});
    return probe ? *probe : unusable(probe.error());
}

}  // namespace

NodeProbes::NodeProbes(QObject* parent) : QObject(parent)
{
    for (const NodeKind kind : {NodeKind::local, NodeKind::emulated}) {
        entries_.push_back({std::string(toString(kind)), std::nullopt});
    }
}

void NodeProbes::start()
{
    if (started_) {
        return;
    }
    started_ = true;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        auto* watcher = new QFutureWatcher<NodeProbe>(this);
        connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, i] {
            entries_[i].probe = watcher->result();
            watcher->deleteLater();
            Q_EMIT changed();
        });
        watcher->setFuture(QtConcurrent::run(probeNode, entries_[i].name));
    }
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
    if (!probe.gpus.empty()) {
        parts << tr("%1 × %2").arg(probe.gpus.size()).arg(QString::fromStdString(probe.gpus.front().name));
    } else if (probe.modelled) {
        parts << tr("modelled times");
    }
    if (!probe.compiler.empty()) {
        parts << QString::fromStdString(probe.compiler);
    }
    return parts.join(QStringLiteral(" · "));
}

}  // namespace cuco::ui
