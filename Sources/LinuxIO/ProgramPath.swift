import CLinux
import Glibc

/// The search path for programs.
package enum ProgramPath {
    /// Whether a program can be started: by its path, or, if its name has no slash, from a folder in `PATH` (execvp(3)).
    package static func finds(_ name: String) -> Bool {
        guard !name.contains("/") else { return isExecutable(name) }
        let path = EnvironmentVariable.value("PATH") ?? "/bin:/usr/bin"
        let folders = path.split(separator: ":", omittingEmptySubsequences: false)
        return folders.contains { isExecutable(($0.isEmpty ? "." : $0) + "/" + name) }
    }

    private static func isExecutable(_ path: String) -> Bool {
        var raw = stat()
        guard unsafe stat(path, &raw) == 0, raw.st_mode & S_IFMT == S_IFREG else { return false }
        return unsafe faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0
    }
}
