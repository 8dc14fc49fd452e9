import Glibc
import LinuxIO

extension TemporaryDirectory {
    /// Makes a symbolic link, dangling or not.
    ///
    /// - Throws: `SystemError`, usually EEXIST.
    package func link(_ name: String, to target: String) throws {
        try check("symlink", name, unsafe symlink(target, path + "/" + name))
    }

    /// Makes a named pipe, which blocks whoever opens it without care.
    ///
    /// - Throws: `SystemError`, usually EEXIST.
    package func makePipe(_ name: String) throws {
        try check("mkfifo", name, unsafe mkfifo(path + "/" + name, 0o600))
    }

    /// Makes a null device, which only root can.
    ///
    /// - Throws: `SystemError`: EPERM without the right.
    package func makeDevice(_ name: String) throws {
        try check("mknod", name, unsafe mknod(path + "/" + name, S_IFCHR | 0o600, 0x103))
    }

    /// Makes a Unix domain socket file that nobody listens on.
    ///
    /// - Throws: `SystemError`, usually EEXIST.
    package func makeSocket(_ name: String) throws {
        try check("mknod", name, unsafe mknod(path + "/" + name, S_IFSOCK | 0o600, 0))
    }

    /// Lets two names change places in one step (RENAME_EXCHANGE).
    ///
    /// - Throws: `SystemError`: EINVAL where the filesystem cannot.
    package func exchange(_ one: String, _ other: String) throws {
        typealias Rename = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
        guard let symbol = unsafe dlsym(nil, "renameat2") else { throw SystemError(code: ENOSYS, operation: "dlsym") }
        let rename = unsafe unsafeBitCast(symbol, to: Rename.self)
        try check("renameat2", one, unsafe rename(AT_FDCWD, path + "/" + one, AT_FDCWD, path + "/" + other, 2))
    }

    /// Publishes a file that had no name while it was written (O_TMPFILE, linkat).
    ///
    /// - Throws: `SystemError`: EOPNOTSUPP where the filesystem cannot.
    package func linkUnnamed(_ name: String, contents: String) throws {
        let number = unsafe open(path, O_WRONLY | 0o20_200_000, 0o600)
        guard number >= 0 else { throw SystemError.last("open", path) }
        defer { close(number) }
        let bytes = Array(contents.utf8)
        let written = unsafe write(number, bytes, bytes.count)
        try check("write", name, written == bytes.count ? 0 : -1)
        let unnamed = "/proc/self/fd/\(number)"
        try check("linkat", name, unsafe linkat(AT_FDCWD, unnamed, AT_FDCWD, path + "/" + name, 0x400))
    }

    private func check(_ operation: String, _ name: String, _ status: Int32) throws {
        guard status == 0 else { throw SystemError.last(operation, name) }
    }
}
