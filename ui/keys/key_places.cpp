// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/keys/key_places.h"

#include "core/llm/key_source.h"
#include "core/llm/provider_settings.h"

#include <QSettings>
#include <QStringList>

#include <algorithm>
#include <mutex>
#include <utility>

namespace cuco::ui {

namespace {

const QString names_setting = QStringLiteral("keys/otherNames");
constexpr std::size_t most_names = 100;

bool isUsual(const std::string& name)
{
    return std::ranges::any_of(providerNames(), [&](const std::string& provider) {
        return std::ranges::any_of(keyNames(provider), [&](const KeyName& key) { return key.name == name; });
    });
}

}  // namespace

/// Shared with the keychain's thread, which may answer after the end.
struct KeyPlaces::Link {
    std::mutex mutex;
    KeyPlaces* places = nullptr;  ///< null once they are gone
};

KeyPlaces::KeyPlaces(std::shared_ptr<Keychain> keychain, QObject* parent)
    : QObject(parent), keychain_(std::move(keychain)), link_(std::make_shared<Link>())
{
    link_->places = this;
    for (const QString& name : QSettings().value(names_setting).toStringList()) {
        mention(name.toStdString());
    }
}

KeyPlaces::~KeyPlaces()
{
    const std::scoped_lock guard(link_->mutex);
    link_->places = nullptr;
}

/// What the keychain calls; `take` gets its answer on the GUI thread, later.
template <class Answer, class Take>
std::function<void(Answer)> KeyPlaces::here(Take take)
{
    return [link = link_, take = std::move(take)](Answer answer) {
        const std::scoped_lock guard(link->mutex);
        if (link->places) {
            QMetaObject::invokeMethod(
                link->places, [take, answer = std::move(answer)] { take(answer); }, Qt::QueuedConnection);
        }
    };
}

KeyPlace KeyPlaces::of(const std::string& name)
{
    if (!places_.contains(name)) {
        places_[name] = KeyPlace::looking;
        look(name);
    }
    return places_[name];
}

void KeyPlaces::lookAgain()
{
    problem_.reset();
    for (auto& [name, place] : places_) {
        look(name);
    }
}

void KeyPlaces::look(const std::string& name)
{
    const int question = ++asked_;
    looked_last_[name] = question;
    // Only whether there is a key leaves the keychain's thread.
    auto found = here<Result<bool>>([this, name, question](const Result<bool>& there) {
        if (!there) {
            failed(question, there.error());
        }
        if (looked_last_[name] != question) {
            return;  // somebody has asked again
        }
        places_[name] = there.value_or(false)           ? KeyPlace::keychain
                        : !environmentKey(name).empty() ? KeyPlace::environment
                                                        : KeyPlace::none;
        Q_EMIT changed();
    });
    keychain_->read(name, [found = std::move(found)](const Result<Secret>& read) {
        found(read ? Result<bool>(!read->empty()) : std::unexpected(read.error()));
    });
}

void KeyPlaces::stored(const std::string& name, int question, const Result<void>& done)
{
    if (!done) {
        failed(question, done.error());
        return;
    }
    stored_last_ = std::max(stored_last_, question);
    if (problem_of_ < question) {
        problem_.reset();
    }
    look(name);
    Q_EMIT changed();
}

void KeyPlaces::failed(int question, const Error& error)
{
    if (question < stored_last_ || question < problem_of_) {
        return;
    }
    problem_ = error;
    problem_of_ = question;
    Q_EMIT changed();
}

void KeyPlaces::mention(const std::string& name)
{
    if (!isKeyName(name) || isUsual(name) || other_names_.size() >= most_names ||
        std::ranges::find(other_names_, name) != other_names_.end()) {
        return;
    }
    other_names_.push_back(name);
    Q_EMIT changed();
}

void KeyPlaces::remember(const std::string& name)
{
    mention(name);
    QStringList names = QSettings().value(names_setting).toStringList();
    if (const QString added = QString::fromStdString(name);
        std::ranges::find(other_names_, name) != other_names_.end() && !names.contains(added)) {
        QSettings().setValue(names_setting, names << added);
    }
}

void KeyPlaces::forget(const std::string& name)
{
    std::erase(other_names_, name);
    QStringList names = QSettings().value(names_setting).toStringList();
    names.removeAll(QString::fromStdString(name));
    QSettings().setValue(names_setting, names);
    Q_EMIT changed();
}

void KeyPlaces::set(const std::string& name, const Secret& key)
{
    const auto take = [this, name, question = ++asked_](const Result<void>& done) { stored(name, question, done); };
    keychain_->write(name, key, here<Result<void>>(take));
}

void KeyPlaces::remove(const std::string& name)
{
    const auto take = [this, name, question = ++asked_](const Result<void>& done) { stored(name, question, done); };
    keychain_->remove(name, here<Result<void>>(take));
}

}  // namespace cuco::ui
