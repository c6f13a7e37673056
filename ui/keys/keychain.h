// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/llm/secret.h"

#include <functional>
#include <memory>
#include <string>

namespace cuco::ui {

/// Where the desktop keeps keys, under the names of environment variables. Calls return at once; `done` is called once,
/// on a thread of the keychain's own, and must not block. Any thread may call.
class Keychain {
public:
    using Stored = std::function<void(Result<void>)>;

    virtual ~Keychain() = default;
    /// Gives an empty secret where it has none of that name. May take minutes: the system may ask for a password.
    virtual void read(const std::string& name, std::function<void(Result<Secret>)> done) = 0;
    virtual void write(const std::string& name, const Secret& secret, Stored done) = 0;
    /// Removing what is not there is no error.
    virtual void remove(const std::string& name, Stored done) = 0;
};

/// The system's, by QtKeychain: the Secret Service (GNOME Keyring, KeePassXC) or KWallet. Errors say what to do where
/// no such service runs, and where the program was built without QtKeychain. To be made once in a program: QtKeychain's
/// queue belongs to the thread that used it first.
std::shared_ptr<Keychain> systemKeychain();

/// One that has no keys and cannot take any; each call gives this error.
std::shared_ptr<Keychain> noKeychain(Error why);

}  // namespace cuco::ui
