// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/source_tab.h"

#include "ui/engine/run_session.h"
#include "ui/views/diff/diff_panel.h"
#include "ui/views/diff_view.h"
#include "ui/views/edit/copy_page.h"
#include "ui/views/edit/throw_away.h"

#include <QAction>
#include <QStackedLayout>
#include <QToolButton>

namespace cuco::ui {

SourceTab::SourceTab(RunSession* session, QAction* edit_copy, QWidget* parent)
    : QWidget(parent), session_(session), diff_(new DiffView(session, this)), pages_(new QStackedLayout(this))
{
    pages_->addWidget(diff_);
    setFocusProxy(diff_);
    auto* button = new QToolButton;
    button->setDefaultAction(edit_copy);
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    diff_->addTool(button);
    connect(session_, &RunSession::selectionChanged, this, &SourceTab::follow);
    connect(session_, &RunSession::runReset, this, &SourceTab::takeUpChildren);
    connect(session_, &RunSession::candidateChanged, this, &SourceTab::takeUpChildren);
}

SourceTab::Key SourceTab::selected() const
{
    return {session_->run(), session_->primary()};
}

CopyPage* SourceTab::copy() const
{
    return qobject_cast<CopyPage*>(pages_->currentWidget());
}

bool SourceTab::hasCopy(const QString& id) const
{
    return copies_.contains({session_->run(), id});
}

QStringList SourceTab::unsaved(const RunModel* run) const
{
    QStringList ids;
    for (auto copy = copies_.begin(); copy != copies_.end(); ++copy)
        if (copy.key().first == run && copy->page->isUnsaved())
            ids << copy.key().second;
    ids.sort();
    return ids;
}

Result<void> SourceTab::editCopy()
{
    const Key key = selected();
    if (!session_->candidate(key.second))
        return {};
    if (!copies_.contains(key)) {
        const auto source = session_->source(key.second);
        if (!source)
            return std::unexpected(source.error());
        copies_[key].page = makePage(key, session_->run(), *source);
    }
    copies_[key].is_open = true;
    session_->compareWith({});
    follow();
    copies_[key].page->setFocus();
    Q_EMIT copiesChanged();
    return {};
}

CopyPage* SourceTab::makePage(const Key& key, RunModel* run, const std::string& source)
{
    auto* page = new CopyPage(run, key.second, source, this);
    pages_->addWidget(page);
    connect(run, &QObject::destroyed, page, [this, key] { drop(key); });
    connect(page, &CopyPage::changed, this, [this] {
        takeUpChildren();
        Q_EMIT copiesChanged();
    });
    connect(page, &CopyPage::backRequested, this, [this, key] {
        copies_[key].is_open = false;
        if (!copies_[key].page->isUnsaved())
            drop(key);
        follow();
        diff_->setFocus();
    });
    connect(page, &CopyPage::discardRequested, this, [this, key, page] {
        if (!mayThrowAway(window(),
                          page->isUnsaved() ? QStringList(tr("a copy of %1").arg(key.second)) : QStringList()))
            return;
        drop(key);
        follow();
        diff_->setFocus();
    });
    return page;
}

void SourceTab::follow()
{
    const Copy copy = session_->secondary().isEmpty() ? copies_.value(selected()) : Copy();
    pages_->setCurrentWidget(copy.is_open ? static_cast<QWidget*>(copy.page) : diff_);
    setFocusProxy(pages_->currentWidget());
}

void SourceTab::showSource(int line)
{
    if (const auto copy = copies_.find(selected()); copy != copies_.end())
        copy->is_open = false;
    follow();
    diff_->panel()->showSourceLine(line);
}

/// What was submitted and became a candidate needs its page no more.
void SourceTab::takeUpChildren()
{
    for (const Key& key : copies_.keys()) {
        const QString child = copies_.value(key).page->childId();
        if (child.isEmpty())
            continue;
        drop(key);
        if (key == selected() && session_->secondary().isEmpty())
            session_->select(child);
    }
    follow();
}

void SourceTab::drop(const Key& key)
{
    if (CopyPage* page = copies_.take(key).page) {
        page->disconnect(this);
        pages_->removeWidget(page);
        page->deleteLater();
        Q_EMIT copiesChanged();
    }
}

}  // namespace cuco::ui
