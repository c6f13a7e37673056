// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/keys/keychain.h"

#include <QObject>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cuco::ui {

enum class KeyPlace { looking, keychain, environment, none };

/// Where keys are, without the keys: what is shown of them. Lives on the GUI thread; the keychain answers later.
class KeyPlaces : public QObject {
    Q_OBJECT

public:
    explicit KeyPlaces(std::shared_ptr<Keychain> keychain, QObject* parent = nullptr);
    ~KeyPlaces() override;

    /// As far as it is known; the first call for a name asks the keychain, and changed() follows.
    KeyPlace of(const std::string& name);
    /// Forgets what it knows: keys may have come by other ways.
    void lookAgain();
    /// What the keychain said last when it could not do what it was asked; nothing once it could after that.
    const std::optional<Error>& problem() const { return problem_; }

    /// Names beyond those that providers usually take: remembered ones, and those that settings of runs mention.
    const std::vector<std::string>& otherNames() const { return other_names_; }
    /// Nothing happens when it is no name, or a usual one, or there already.
    void mention(const std::string& name);
    /// The same, and in later sessions: the name, not the key.
    void remember(const std::string& name);
    void forget(const std::string& name);

    void set(const std::string& name, const Secret& key);
    void remove(const std::string& name);

Q_SIGNALS:
    void changed();

private:
    struct Link;

    void look(const std::string& name);
    void stored(const std::string& name, int question, const Result<void>& done);
    void failed(int question, const Error& error);
    template <class Answer, class Take>
    std::function<void(Answer)> here(Take take);

    std::shared_ptr<Keychain> keychain_;
    std::shared_ptr<Link> link_;
    std::map<std::string, KeyPlace> places_;
    std::vector<std::string> other_names_;
    std::optional<Error> problem_;
    // Answers may come in another order than that of the questions, which have numbers for it.
    int asked_ = 0, stored_last_ = 0, problem_of_ = 0;
    std::map<std::string, int> looked_last_;
};

}  // namespace cuco::ui
