package import LinuxIO
package import SpoolModel

extension AppSpool {
    /// Calls `body` for everything in `new/` that may be a job, in no order, until it returns `false`.
    ///
    /// Names that are never jobs are passed over. Memory does not grow with the number of files.
    ///
    /// - Throws: `SystemError` when the directory cannot be read to its end; what `body` saw is still true.
    package func eachSighting(_ body: (SeenFile) -> Bool) throws(SystemError) {
        var listing = try new.listing()
        while let entry = try listing.next() {
            guard let name = FileName(bytes: entry.name), let sighting = try look(name) else { continue }
            guard body(sighting) else { return }
        }
    }

    /// How a file in `new/` looks now; `nil` when it is not there or its name is never a job's.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func look(_ name: FileName) throws(SystemError) -> SeenFile? {
        guard name.isJob, let status = try new.status(of: name.bytes) else { return nil }
        return SeenFile(name: name, status: status)
    }

    /// Opens a file in `new/` for reading, after a look that it is a regular one; never through a link.
    ///
    /// - Throws: `SystemError`: EMFILE, EIO and the like; the file stays where it is.
    package func open(_ name: FileName) throws(SystemError) -> Opening {
        guard let status = try new.status(of: name.bytes) else { return .gone }
        guard status.kind == .regular else { return .special(status.kind) }
        do {
            let lease = try leaseJobFile("\(new.path)/\(name)")
            let file = try new.openForReading(name.bytes)
            let opened = try file.status()
            // Swapped between the look and the opening, which did not wait and had no effect.
            guard opened.kind == .regular else { return .special(opened.kind) }
            return .opened(OpenJob(name: name, status: opened, file: file, lease: lease))
        } catch {
            if error.isNotFound { return .gone }
            if error.isSymbolicLink { return .special(.symbolicLink) }
            if error.isBusy { return .busy }
            if error.isRefusal || error.isOtherFilesystem { return .unreadable(status, error) }
            throw error
        }
    }
}
