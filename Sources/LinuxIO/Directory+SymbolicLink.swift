import Glibc

extension Directory {
    /// Makes a symbolic link called `name`, whatever `target` names; nothing of ours ever follows it.
    ///
    /// - Throws: `SystemError`: EEXIST when the name is taken, EPERM where there are no symbolic links.
    package func makeSymbolicLink(_ name: [UInt8], to target: String) throws(SystemError) {
        let component = try ComponentName(name, for: "symlinkat")
        let status = try FileGate.call(
            .makeSymbolicLink, subject(name), { unsafe symlinkat(target, descriptor.rawValue, component.bytes) })
        guard status == 0 else { throw .last("symlinkat", subject(name)) }
    }
}
