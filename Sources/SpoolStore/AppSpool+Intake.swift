package import JobFormat
package import LinuxIO

extension AppSpool {
    /// Whether `new/` has a file of this name, as far as can be seen; the next scan meets errors again, and reports them.
    package func hasNew(_ name: FileName) -> Bool {
        do throws(SystemError) {
            return try new.status(of: name.bytes) != nil
        } catch {
            return false
        }
    }

    /// Calls `body` for every entry of `new/` that may be a job, in no particular order, until it returns `false`.
    ///
    /// Skips names that cannot be jobs. Memory does not grow with the number of files.
    ///
    /// - Throws: `SystemError` if the directory cannot be read to its end. The sightings passed to `body` are still valid.
    package func eachSighting(_ body: (SeenFile) -> Bool) throws(SystemError) {
        var listing = try new.listing()
        while let entry = try listing.next() {
            guard let name = FileName(bytes: entry.name), let sighting = try look(name) else { continue }
            guard body(sighting) else { return }
        }
    }

    /// Returns the current state of a file in `new/`; `nil` if it does not exist or its name cannot be a job's.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func look(_ name: FileName) throws(SystemError) -> SeenFile? {
        guard name.isJob, let status = try new.status(of: name.bytes) else { return nil }
        return SeenFile(name: name, status: status)
    }

    /// Opens a file in `new/` for reading that is regular, as a look has shown. Never follows a link.
    ///
    /// - Throws: `SystemError`: for example EMFILE or EIO. The file stays in place.
    package func open(_ name: FileName) throws(SystemError) -> Opening {
        do {
            let lease = try leaseJobFile("\(new.path)/\(name)")
            let file = try new.openForReading(name.bytes)
            let opened = try file.status()
            // Replaced since it was looked at. The open did not wait, and only a writer to a pipe may have noticed it.
            guard opened.kind == .regular else { return .special(opened.kind) }
            return .opened(OpenJob(name: name, status: opened, file: file, lease: lease))
        } catch {
            if error.isNotFound { return .gone }
            if error.isSymbolicLink { return .special(.symbolicLink) }
            if error.isBusy { return .busy }
            guard let status = try new.status(of: name.bytes) else { return .gone }
            if status.kind != .regular { return .special(status.kind) }
            guard error.isRefusal || error.isOtherFilesystem else { throw error }
            return .unreadable(status, error)
        }
    }
}
