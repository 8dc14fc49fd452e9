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

    /// Looks at files in `new/` side by side where each look waits for a server.
    ///
    /// - Parameter names: Their names.
    /// - Returns: Those that are there; nothing where looks are fast.
    package func lookAhead(_ names: [FileName]) -> [FileName: SeenFile] {
        guard waitsForServer, names.count > 1 else { return [:] }
        // Its turn repeats a look that fails here, and reports it.
        let found = SideBySide.map(names) { [new] name in try? new.status(of: name.bytes) }
        return Dictionary(
            zip(names, found).compactMap { name, status in
                status.map { (name, SeenFile(name: name, status: $0)) }
            }
        ) { $1 }
    }

    /// Opens files in `new/` side by side where each opening waits for a server, and has the kernel read them.
    ///
    /// - Parameter names: Their names; long files are not read.
    /// - Returns: Those that could be opened; nothing where openings are fast.
    package func openAhead(_ names: [FileName]) -> [FileName: OpenJob] {
        guard waitsForServer, names.count > 1 else { return [:] }
        let opened = SideBySide.map(names) { [new, jobFiles] name -> OpenJob? in
            // The last descriptors are for files that have their turns.
            guard jobFiles?.hasRoom(keeping: Self.keptDescriptors) ?? true,
                case .opened(let job)? = try? Self.open(name, in: new, counting: jobFiles)
            else { return nil }
            var bytes: [UInt8] = []
            // Its turn repeats what fails here, and reports it.
            if job.status.byteCount <= Self.aheadByteLimit {
                _ = try? job.file.read(Int(job.status.byteCount), at: 0, appendingTo: &bytes)
            }
            return job
        }
        return Dictionary(opened.compactMap { $0.map { ($0.name, $0) } }) { $1 }
    }

    private static let keptDescriptors = 16
    /// The longest file of which all is read ahead.
    private static let aheadByteLimit: Int64 = 1 << 16

    /// Closes files, side by side where each waits for a server, unless others have references to them.
    package func close(_ files: consuming [OpenJob]) {
        if waitsForServer { _ = SideBySide.map(files) { _ in } }
    }

    /// Opens a file in `new/` for reading that is regular, as a look has shown. Never follows a link.
    ///
    /// - Throws: `SystemError`: for example EMFILE or EIO. The file stays in place.
    package func open(_ name: FileName) throws(SystemError) -> Opening {
        try Self.open(name, in: new, counting: jobFiles)
    }

    private static func open(
        _ name: FileName, in new: Directory, counting jobFiles: DescriptorShare?
    ) throws(SystemError) -> Opening {
        do {
            let lease = try jobFiles?.leaseFile("\(new.path)/\(name)")
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
