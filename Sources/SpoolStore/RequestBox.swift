package import LinuxIO

/// Requests of other nodes of the cluster to a node, each a file in `.pushspool/<node>/requests/`, and its answers.
///
/// A request is complete when it has its name. The node that has the journal takes it, and puts the answer beside it.
/// Calls block.
package struct RequestBox: Sendable {
    private static let byteLimit = 128 << 10

    private let directory: Directory

    /// Opens the box of a node, and creates it.
    ///
    /// - Parameter home: The node's folder.
    /// - Throws: `SystemError`: it cannot be created.
    init(in home: Directory) throws(SystemError) {
        directory = try home.makeChild(Array("requests".utf8), mode: 0o700)
    }

    /// Adds a request.
    ///
    /// - Returns: Its name.
    /// - Throws: `SystemError`: for example ENOSPC.
    package func ask(_ request: [UInt8]) throws(SystemError) -> String {
        let name = String(UInt64.random(in: 0 ... .max), radix: 16)
        try write(request, as: name + ".request")
        return name
    }

    /// Removes and returns the answer to a request; `nil` if there is none yet.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func takeAnswer(to name: String) throws(SystemError) -> [UInt8]? { try take(name + ".answer") }

    /// Withdraws a request that was not answered in time. It may still be carried out if it was taken.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func withdraw(_ name: String) throws(SystemError) { try directory.unlink(Array((name + ".request").utf8)) }

    /// Removes and returns the requests that are waiting.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func takeRequests() throws(SystemError) -> [(name: String, request: [UInt8])] {
        var found: [(name: String, request: [UInt8])] = []
        for bytes in try directory.names() {
            guard let name = Self.name(bytes, without: ".request") else { continue }
            do throws(SystemError) {
                if let request = try take(name + ".request") { found.append((name, request)) }
            } catch {
                // Those that were removed must be carried out. The next call meets the error again.
                guard !found.isEmpty else { throw error }
                return found
            }
        }
        return found
    }

    /// Answers a request.
    ///
    /// - Throws: `SystemError`: for example ENOSPC.
    package func answer(_ name: String, _ answer: [UInt8]) throws(SystemError) {
        try write(answer, as: name + ".answer")
    }

    /// The answer to a request that came before the node's journal had its present owner. Those who still wait ask again.
    package static let again: [UInt8] = []

    /// Removes all answers, and answers all requests with `again`: those who asked may have given up.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func clear() throws(SystemError) {
        for name in try directory.names() {
            try directory.unlink(name)
            if let name = Self.name(name, without: ".request") { try answer(name, Self.again) }
        }
    }

    /// The requests whose answers nobody has taken yet.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func answered() throws(SystemError) -> [String] {
        try directory.names().compactMap { Self.name($0, without: ".answer") }
    }

    private static func name(_ bytes: [UInt8], without ending: String) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.hasSuffix(ending) ? String(text.dropLast(ending.count)) : nil
    }

    private func write(_ bytes: [UInt8], as name: String) throws(SystemError) {
        try directory.replace(Array(name.utf8), by: Array((name + "~").utf8), mode: 0o600) {
            (file) throws(SystemError) in
            try file.write(bytes)
        }
    }

    private func take(_ name: String) throws(SystemError) -> [UInt8]? {
        let name = Array(name.utf8)
        let bytes = try directory.contentsIfThere(of: name, limit: Self.byteLimit)
        try directory.unlink(name)
        return bytes
    }
}
