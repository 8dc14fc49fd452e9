import Glibc

extension Directory {
    /// Creates a symbolic link `name` that points to `target`, which need not exist. Our own code never follows it.
    ///
    /// - Throws: `SystemError`: EEXIST if the name is taken, EPERM if the filesystem has no symbolic links.
    package func makeSymbolicLink(_ name: [UInt8], to target: String) throws(SystemError) {
        let component = try ComponentName(name, for: "symlinkat")
        let status = try FileGate.call(
            .makeSymbolicLink, subject(name), { unsafe symlinkat(target, descriptor.rawValue, component.bytes) })
        guard status == 0 else { throw .last("symlinkat", subject(name)) }
    }
}
