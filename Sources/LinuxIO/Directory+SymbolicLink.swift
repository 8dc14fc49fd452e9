import Glibc

extension Directory {
    /// Creates a symbolic link `name` that points to `target`, which need not exist. Our own code never follows it.
    ///
    /// - Throws: `SystemError`: EEXIST if the name is taken, EPERM if the filesystem has no symbolic links.
    package func makeSymbolicLink(_ name: [UInt8], to target: String) throws(SystemError) {
        let component = try ComponentName(name, for: "symlinkat")
        let status = try FileGate.call(
            .makeSymbolicLink, subject(name), { unsafe component.withText { unsafe symlinkat(target, number, $0) } })
        guard status == 0 else { throw .last("symlinkat", subject(name)) }
    }

    /// Returns the target of the symbolic link `name`, up to 4,096 bytes; `nil` if it does not exist.
    ///
    /// - Throws: `SystemError`: EINVAL if it is no symbolic link.
    package func target(ofLink name: [UInt8]) throws(SystemError) -> String? {
        let component = try ComponentName(name, for: "readlinkat")
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = try FileGate.call(
            .read, subject(name), { unsafe component.withText { unsafe readlinkat(number, $0, &bytes, bytes.count) } })
        if count >= 0 { return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) }
        guard errno == ENOENT else { throw .last("readlinkat", subject(name)) }
        return nil
    }
}
