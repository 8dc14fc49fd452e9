import LinuxIO

/// Drops jobs for one app so that the daemon sees either the complete job or nothing.
///
/// A job is written to `tmp/`, synced and renamed into `new/` under a unique name; then the folder is synced, and the call
/// checks that it still has its path. Once a call returns, the job survives a power loss. Calls block.
///
/// ```swift
/// let weather = try Submission(app: "weather", spool: "/var/spool/pushspool")
/// let name = try weather.submit(Array(json.utf8), name: "storm.json")     // storm-91b6….json
/// ```
public struct Submission: Sendable {
    private let place: AppPlace

    /// Finds the app's folders. Each job goes to the folders that have their paths when it is dropped.
    ///
    /// - Throws: `SpoolClientError` if the app does not exist or its folders must not be used.
    public init(app: String, spool: String) throws(SpoolClientError) {
        place = try AppPlace(app: app, spool: spool)
        _ = try translating { [place] () throws(SystemError) in try place.open("new") }
    }

    /// Drops one job.
    ///
    /// - Parameters:
    ///   - bytes: The complete job file.
    ///   - name: The beginning and end of the file name. The suffix determines the format (`.json`, `.yaml`, `.yml`,
    ///     `.jsonl`). The prefix `urgent-` or `bulk-` selects a lane.
    /// - Returns: The name of the dropped file. 17 characters before the suffix make it unique.
    /// - Throws: `SpoolClientError`. Nothing was dropped and the call may be repeated, unless the hint says to look for
    ///   the job.
    @discardableResult
    public func submit(_ bytes: [UInt8], name: String) throws(SpoolClientError) -> String {
        try submit(chunks: CollectionOfOne(bytes), name: name)
    }

    /// Drops one job that is supplied in pieces, so that a long job need not be in memory. Otherwise like `submit(_:name:)`.
    ///
    /// - Parameters:
    ///   - chunks: The bytes of the job file, in order.
    ///   - name: The beginning and end of the file name.
    /// - Returns: The name of the dropped file.
    /// - Throws: `SpoolClientError`, like `submit(_:name:)`.
    @discardableResult
    public func submit(chunks: some Sequence<[UInt8]>, name: String) throws(SpoolClientError) -> String {
        let job = try begin(name)
        for chunk in chunks { try job.append(chunk) }
        return try job.publish()
    }

    /// Begins a job that is written bit by bit.
    ///
    /// - Parameter name: The beginning and end of the file name.
    /// - Returns: The job, which the daemon does not see before it is published.
    /// - Throws: `SpoolClientError`, like `submit(_:name:)`.
    package func begin(_ name: String) throws(SpoolClientError) -> StagedJob {
        try stage(try uniqueName(like: name))
    }

    /// Does with an empty file that is never a job what a drop does with a job, and removes it.
    ///
    /// - Throws: `SpoolClientError`: a drop would fail, too.
    package func rehearse() throws(SpoolClientError) {
        try stage(".rehearsal-\(randomDigits())").rehearse()
    }

    /// Requires that a job could be dropped, as far as that is known without creating a file, which would wake the daemon.
    ///
    /// - Throws: `SpoolClientError`: a drop would fail.
    package func requireWay() throws(SpoolClientError) {
        try translating { () throws(SystemError) in
            let home = try place.open()
            let new = try home.openChild(Array("new".utf8))
            try Host.requireWritable(new.path)
            guard let staging = try? home.openChild(Array("tmp".utf8)) else { return }
            do throws(SystemError) {
                try Host.requireWritable(staging.path)
                // The kernel compares the mounts before it looks for the file.
                let missing = Array(".rehearsal-\(randomDigits())".utf8)
                try staging.rename(missing, to: new, replacing: missing)
            } catch {
                guard error.isNotFound || error.isRefusal else { throw error }
            }
        }
    }

    private func stage(_ unique: String) throws(SpoolClientError) -> StagedJob {
        try translating { () throws(SystemError) in
            let home = try place.open()
            let new = try home.openChild(Array("new".utf8))
            do throws(SystemError) {
                if let staging = try? home.openChild(Array("tmp".utf8)) {
                    return try StagedJob(unique, in: staging, as: Array(unique.utf8), for: (new, place))
                }
            } catch {
                guard error.isRefusal else { throw error }
            }
            // If `tmp/` does not exist or must not be written, a hidden file serves.
            return try StagedJob(unique, in: new, as: [0x2E] + Array(unique.utf8), for: (new, place))
        }
    }
}

/// Inserts a hyphen and 16 random hexadecimal digits before the suffix.
private func uniqueName(like name: String) throws(SpoolClientError) -> String {
    let endings = [".json", ".yaml", ".yml", ".jsonl"]
    guard let ending = endings.first(where: name.hasSuffix), !name.hasPrefix("."),
        !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x2F || $0 == 0x7F }), name.utf8.count <= 200,
        name.utf8.count > ending.utf8.count, !name.hasSuffix(".result.json")
    else {
        throw SpoolClientError(
            "'\(name)' is not a valid job name",
            hint: "use at most 200 bytes, no leading dot, no slash or control character, and end it in .json, .yaml, "
                + ".yml or .jsonl", isInputFault: true)
    }
    return "\(name.dropLast(ending.count))-\(randomDigits())\(ending)"
}

private func randomDigits() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
