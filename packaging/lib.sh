# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by packaging/run and packaging/test; sourced by bash.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What cucoctl is built from and evaluates with.
cli_packages=(g++ binutils bubblewrap cmake ninja-build pkg-config ccache
    nlohmann-json3-dev libsqlite3-dev libzstd-dev zlib1g-dev libssl-dev libcurl4-openssl-dev libgit2-dev libfmt-dev libcli11-dev
    libclang-19-dev)
build_packages=("${cli_packages[@]}" qt6-base-dev qt6-charts-dev libqt6opengl6-dev qt6-svg-dev libqscintilla2-qt6-dev qtkeychain-qt6-dev
    fonts-inter fonts-jetbrains-mono)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev openmpi-bin libopenmpi-dev clang-format reuse
    gnome-keyring dbus-daemon)

say() { printf '%s\n' "$*" >&2; }
die() {
    say "$@"
    exit 3
}

missing_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
    done
}

# Installs those of the named Debian packages that are not there.
ensure_packages() {
    local missing admin=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "This system has no apt, so nothing is installed. Needed, by their Debian names:"
        say "  $*"
        say "Install their counterparts; the build goes on and names what it cannot find."
        return 0
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "These packages are missing and need an administrator to install them:" \
            $'\n'"  apt-get install --no-install-recommends ${missing[*]}"
        admin=(sudo)
    fi
    say "Installing ${#missing[@]} packages: ${missing[*]}"
    local log
    log=$(mktemp)
    if ! { "${admin[@]}" apt-get update -qq &&
        "${admin[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
        >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "apt-get could not install them (its last lines are above). Install them by hand, then run this again."
    fi
    rm -f "$log"
}

# configure_and_build PRESET [TARGET…]
configure_and_build() {
    local preset=$1
    shift
    local log=$root/build/$preset/configure.log
    mkdir -p "$root/build/$preset"
    if ! (cd "$root" && cmake --preset "$preset") >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        die "CMake could not configure the build; the whole log is build/$preset/configure.log."
    fi
    if grep -q 'QtKeychain was not found' "$log"; then
        say "QtKeychain was not found (Debian: qtkeychain-qt6-dev): the desktop takes keys from the environment only."
    fi
    local arguments=(--build "$root/build/$preset")
    [ $# -gt 0 ] && arguments+=(--target "$@")
    cmake "${arguments[@]}" >&2 || die "The build failed; the compiler's messages are above."
}
