import LinuxIO

/// The file to which a ledger's lines are written as they arrive. A separate thread performs the blocking calls.
actor LedgerFile {
    private nonisolated let worker: WorkerThread
    private let path: String
    private var file: OpenFile?

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Creates the object; `open()` creates the file.
    init(path: String, worker: WorkerThread) {
        self.path = path
        self.worker = worker
    }

    /// Creates the file, which must not exist, readable only by its owner because it contains tokens and payloads.
    ///
    /// - Throws: `SystemError` if the file exists or its directory does not.
    func open() throws(SystemError) {
        let place = FilePlace(path)
        file = try Directory.open(path: place.directory).create(place.nameBytes, mode: 0o600)
    }

    /// Appends lines.
    ///
    /// - Throws: `LedgerFileFault`, which stops the simulator, because its record would have a gap.
    func append(_ lines: [UInt8]) throws(LedgerFileFault) {
        do throws(SystemError) {
            try file?.write(lines)
        } catch {
            throw LedgerFileFault(path: path, cause: error)
        }
    }
}

/// The ledger's file cannot be written.
struct LedgerFileFault: Error, CustomStringConvertible {
    let path: String
    let cause: SystemError

    var description: String { "cannot write the ledger: \(cause)" }
}
