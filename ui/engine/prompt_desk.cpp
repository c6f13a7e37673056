// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/prompt_desk.h"

#include <algorithm>
#include <mutex>

namespace cuco::ui {

/// Shared with the engine's threads, which may ask to the end.
struct PromptDesk::Link {
    std::mutex mutex;
    PromptDesk* desk = nullptr;  ///< null once it is gone
};

PromptDesk::PromptDesk(QObject* parent) : QObject(parent), link_(std::make_shared<Link>())
{
    link_->desk = this;
    exchange_ = std::make_shared<ManualExchange>([link = link_] {
        const std::scoped_lock guard(link->mutex);
        if (link->desk) {
            QMetaObject::invokeMethod(link->desk, &PromptDesk::refresh, Qt::QueuedConnection);
        }
    });
}

PromptDesk::~PromptDesk()
{
    const std::scoped_lock guard(link_->mutex);
    link_->desk = nullptr;
}

void PromptDesk::answer(int number, const QString& text)
{
    exchange_->answer(number, text.toStdString());
    refresh();
}

void PromptDesk::giveUp(int number)
{
    exchange_->giveUp(number);
    refresh();
}

void PromptDesk::refresh()
{
    waiting_ = exchange_->waiting();
    const auto is_waiting = [this](int number) {
        return std::ranges::find(waiting_, number, &ManualPrompt::number) != waiting_.end();
    };
    drafts_.removeIf([&](const auto& draft) { return !is_waiting(draft.key()); });
    Q_EMIT changed();
}

}  // namespace cuco::ui
