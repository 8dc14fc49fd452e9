import LinuxIO

/// The file to which a ledger's lines go as they come; its own thread does the blocking.
actor LedgerFile {
    private nonisolated let worker: WorkerThread
    private let path: String
    private var file: OpenFile?

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Names the file; `open()` makes it.
    init(path: String, worker: WorkerThread) {
        self.path = path
        self.worker = worker
    }

    /// Makes the file, which must not be there yet, readable by its owner only: it holds tokens and payloads.
    ///
    /// - Throws: `SystemError`: it is there already, or its directory is not.
    func open() throws(SystemError) {
        let place = FilePlace(path)
        file = try Directory.open(path: place.directory).create(place.name, mode: 0o600)
    }

    /// Appends lines.
    ///
    /// - Throws: `LedgerFileFault`: the simulator stops, since its record would have a hole.
    func append(_ lines: [UInt8]) throws(LedgerFileFault) {
        do throws(SystemError) {
            try file?.write(lines)
        } catch {
            throw LedgerFileFault(path: path, cause: error)
        }
    }
}

/// The ledger's file cannot be written any more.
struct LedgerFileFault: Error, CustomStringConvertible {
    let path: String
    let cause: SystemError

    var description: String { "the ledger cannot be written: \(cause)" }
}

/// A path taken apart: the directory, and the name in it.
struct FilePlace {
    let directory: String
    let name: [UInt8]
    /// Whether the last component names no entry of its own.
    var isDots: Bool { name == Array(".".utf8) || name == Array("..".utf8) }

    init(_ path: String) {
        let bytes = Array(path.utf8)
        let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
        name = Array(bytes[(slash.map { $0 + 1 } ?? 0)...])
        directory =
            switch slash {
            case nil: "."
            case 0: "/"
            case let slash?: String(decoding: bytes[..<slash], as: UTF8.self)
            }
    }
}
