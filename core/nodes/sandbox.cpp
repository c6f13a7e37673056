// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/sandbox.h"

#include "core/base/files.h"
#include "core/base/subprocess.h"

#include <fmt/format.h>

#include <sys/utsname.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace cuco {

namespace {

/// The system's programs and libraries, and of /etc only what the loader and the compilers look up.
constexpr std::array system_paths{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"};
constexpr std::array settings{"/etc/alternatives", "/etc/ld.so.cache",   "/etc/ld.so.conf",
                              "/etc/ld.so.conf.d", "/etc/nsswitch.conf", "/etc/hosts",
                              "/etc/localtime",    "/etc/nccl.conf",     "/etc/nvidia"};

constexpr int most_gpus_of_host = 64;

bool isBelow(const std::filesystem::path& path, const std::filesystem::path& folder)
{
    const auto [at_folder, at_path] = std::ranges::mismatch(folder, path);
    return at_folder == folder.end();
}

/// Folders that are never shown as a whole; parts of them may be.
std::vector<std::filesystem::path> privateFolders()
{
    std::vector<std::filesystem::path> folders{"/root", "/home", "/run", "/var", "/etc", "/proc", "/sys", "/dev"};
    std::error_code error;
    if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
        folders.push_back(std::filesystem::weakly_canonical(home, error));
    return folders;
}

bool isInSystem(const std::filesystem::path& path)
{
    return std::ranges::any_of(system_paths, [&](const char* shown) { return isBelow(path, shown); });
}

/// A home folder that is itself /usr/sbin, as some services have it, must stay.
bool mayHoldHomes(const std::filesystem::path& folder)
{
    return isBelow(folder, "/opt") || isBelow(folder, "/usr/home") || isBelow(folder, "/usr/local/home");
}

bool isInPrivate(const std::filesystem::path& path)
{
    return std::ranges::any_of(privateFolders(), [&](const auto& folder) { return isBelow(path, folder); });
}

std::vector<std::filesystem::path> gpuDevices()
{
    std::vector<std::filesystem::path> devices;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/dev", error))
        if (entry.path().filename().string().starts_with("nvidia"))
            devices.push_back(entry.path());
    std::ranges::sort(devices);
    return devices;
}

std::array<int, 2> leadingVersion(std::string_view text)
{
    std::array<int, 2> version{};
    for (int& part : version) {
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), part);
        if (parsed.ec != std::errc())
            return version;
        text.remove_prefix(std::min<std::size_t>(static_cast<std::size_t>(parsed.ptr - text.data()) + 1, text.size()));
    }
    return version;
}

/// Since Linux 5.14 the number of processes is counted per user namespace; before, a limit would count all of the
/// user's programs.
std::filesystem::path usefulPrlimit()
{
    utsname system{};
    if (::uname(&system) != 0 || leadingVersion(system.release) < std::array{5, 14})
        return {};
    return findProgram("prlimit").value_or(std::filesystem::path());
}

bool fileSays(const char* path, std::string_view wanted)
{
    const auto text = readFile(path, 64);
    return text && text->starts_with(wanted);
}

/// What stands in the way when bubblewrap is installed and does not work.
std::string remedyHere()
{
    if (fileSays("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") && ::geteuid() != 0)
        return "AppArmor keeps programs from making user namespaces. Allow it for bubblewrap: sudo apt install "
               "apparmor-profiles, sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict "
               "/etc/apparmor.d/, sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict; or for all "
               "programs: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0.";
    if (fileSays("/proc/sys/kernel/unprivileged_userns_clone", "0") && ::geteuid() != 0)
        return "Allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1.";
    if (fileSays("/proc/sys/user/max_user_namespaces", "0"))
        return "Allow user namespaces: sudo sysctl user.max_user_namespaces=15000.";
    if (std::filesystem::exists("/.dockerenv") || std::getenv("KUBERNETES_SERVICE_HOST") != nullptr ||
        std::filesystem::exists("/run/.containerenv"))
        return "The container forbids it: start it with --security-opt seccomp=unconfined --security-opt "
               "apparmor=unconfined --security-opt systempaths=unconfined --cap-add SYS_ADMIN, or --privileged.";
    return "Allow user namespaces for this user, or ask who runs the machine.";
}

std::string firstLine(const std::string& text)
{
    return text.substr(0, text.find('\n'));
}

Result<CommandOutcome> runShort(std::vector<std::string> argv, std::stop_token stop)
{
    Command command;
    command.argv = std::move(argv);
    command.working_directory = "/";
    command.environment = scrubbedEnvironment();
    command.limits.wall = std::chrono::seconds(10);
    command.limits.output_bytes = 4096;
    return runCommand(command, stop);
}

}  // namespace

bool mayBeShown(const std::filesystem::path& path)
{
    if (!path.is_absolute() || path == path.root_path())
        return false;
    return std::ranges::none_of(privateFolders(), [&](const auto& folder) { return isBelow(folder, path); });
}

std::vector<std::string> sandboxPrefix(const SandboxPolicy& policy, const SandboxTool& tool)
{
    std::vector<std::string> argv{
        tool.program.string(), "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"};
    if (policy.network)
        argv.emplace_back("--share-net");
    const auto add = [&](std::initializer_list<std::string> words) { argv.insert(argv.end(), words); };
    const auto addTmpfs = [&](const char* path) {
        if (tool.sized_tmpfs)
            add({"--size", std::to_string(policy.memory_files_bytes)});
        add({"--tmpfs", path});
    };
    if (tool.disable_userns)
        add({"--disable-userns"});
    add({"--die-with-parent", "--new-session", "--cap-drop", "ALL"});
    std::error_code error;
    for (const std::filesystem::path path : system_paths) {
        if (std::filesystem::is_symlink(path, error))
            add({"--symlink", std::filesystem::read_symlink(path, error).string(), path.string()});
        else
            add({"--ro-bind-try", path.string(), path.string()});
    }
    for (const char* path : settings)
        add({"--ro-bind-try", path, path});
    // Root of the machine could write kernel settings through /proc, whatever user the sandbox shows.
    add({"--proc", "/proc", "--ro-bind", "/sys", "/sys", "--dev", "/dev"});
    if (!policy.gpus)
        add({"--remount-ro", "/proc"});
    // CUDA does not start where all of /proc is read-only.
    for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"})
        if (policy.gpus)
            add({"--ro-bind-try", path, path});
    if (policy.gpus) {
        auto devices = gpuDevices();
        // Another host may have more of them than this one.
        for (int gpu = 0; policy.network && gpu < most_gpus_of_host; ++gpu) {
            std::filesystem::path device = fmt::format("/dev/nvidia{}", gpu);
            if (std::ranges::find(devices, device) == devices.end())
                devices.push_back(std::move(device));
        }
        for (const auto& device : devices)
            add({"--dev-bind-try", device.string(), device.string()});
        if (!policy.network)
            add({"--setenv", "NCCL_SOCKET_IFNAME", "lo"});
    }
    if (policy.network)
        add({"--dev-bind-try", "/dev/infiniband", "/dev/infiniband"});
    addTmpfs("/dev/shm");
    addTmpfs("/tmp");
    for (const auto& folder : privateFolders())
        if (mayHoldHomes(folder.parent_path()) && std::filesystem::is_directory(folder, error))
            addTmpfs(folder.c_str());
    for (const auto& path : policy.readable) {
        const auto real = std::filesystem::canonical(path, error);
        if (error || !mayBeShown(path) || !mayBeShown(real))
            continue;
        if (isInSystem(real) && isInSystem(path) && !isInPrivate(real))
            continue;
        add({"--ro-bind", real.string(), real.string()});
        if (real != path)
            add({"--ro-bind", real.string(), path.string()});
    }
    for (const auto& path : policy.hidden)
        add({"--tmpfs", path.string()});
    const std::string folder = policy.writable.empty() ? "/tmp" : policy.writable.string();
    if (!policy.writable.empty())
        add({"--bind", folder, folder});
    add({"--setenv", "HOME", folder, "--setenv", "TMPDIR", folder, "--chdir", folder});
    add({"--"});
    if (!tool.prlimit.empty())
        add({tool.prlimit.string(), "--nproc=" + std::to_string(policy.processes), "--"});
    return argv;
}

Result<SandboxTool> findSandboxTool(std::stop_token stop)
{
    const auto program = findProgram("bwrap");
    if (!program)
        return failure("Candidates run without a sandbox: bubblewrap was not found.", "",
                       "Install it with: sudo apt install bubblewrap");
    const auto asked = runShort({program->string(), "--version"}, stop);
    if (!asked)
        return std::unexpected(asked.error());
    SandboxTool tool;
    tool.program = *program;
    constexpr std::string_view mark = "bubblewrap ";
    if (!asked->succeeded() || !asked->out.starts_with(mark))
        return failure("Candidates run without a sandbox: bubblewrap does not tell its version.", program->string(),
                       "Install it again with: sudo apt install --reinstall bubblewrap");
    tool.version = firstLine(asked->out.substr(mark.size()));
    const auto version = leadingVersion(tool.version);
    tool.sized_tmpfs = version >= std::array{0, 7};
    tool.disable_userns = version >= std::array{0, 8};
    tool.prlimit = usefulPrlimit();

    auto argv = sandboxPrefix({}, tool);
    argv.emplace_back("true");
    const auto tried = runShort(std::move(argv), stop);
    if (!tried)
        return std::unexpected(tried.error());
    if (tried->cancelled)
        return failure("The search for bubblewrap was stopped.");
    if (!tried->succeeded())
        return failure("Candidates run without a sandbox: bubblewrap does not work on this machine.",
                       firstLine(tried->err), remedyHere());
    return tool;
}

Result<SandboxTool> Sandbox::tool(std::stop_token stop) const
{
    const std::lock_guard guard(mutex_);
    if (found_)
        return *found_;
    auto found = findSandboxTool(stop);
    if (!stop.stop_requested())
        found_ = found;
    return found;
}

}  // namespace cuco
