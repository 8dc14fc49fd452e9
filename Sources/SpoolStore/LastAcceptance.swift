package import LinuxIO
package import PushModel

/// When a gateway last accepted a notification of an app, and a digest of the identity that it was sent with. Kept across
/// restarts in `accepted-<app>` in the state folder; written at most once an hour.
///
/// Calls block.
package struct LastAcceptance: Sendable {
    private static let writePause = Duration.seconds(3600)
    private static let byteLimit = 128

    private let mark: AppMark
    private var identity: String
    /// When the gateway last accepted this identity; `nil` if it is not known that it did.
    private(set) package var time: WallTime?
    private var nextWrite: WallTime?

    /// Creates the record of an app that presents `identity`, a digest in hexadecimal digits.
    package init(of app: String, _ identity: String, in state: Directory) {
        (self.identity, mark) = (identity, AppMark("accepted", of: app, in: state))
    }

    /// The file's path, for messages.
    package var path: String { mark.path }

    /// Reads the file. What it says of another identity does not count, nor does a time in the future.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    package mutating func load(at now: WallTime) throws(SystemError) {
        guard let line = try mark.read(limit: Self.byteLimit) else { return }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 2, words[1] == identity, let read = WallTime(rfc3339: String(words[0])), read <= now else {
            return
        }
        (time, nextWrite) = (read, read + Self.writePause)
    }

    /// Uses another identity; forgets the time if it differs.
    package mutating func use(_ identity: String) {
        guard identity != self.identity else { return }
        (self.identity, time, nextWrite) = (identity, nil, nil)
    }

    /// Notes an acceptance, and writes the file if it is due.
    ///
    /// - Throws: `SystemError`: it cannot be written. It is tried again in an hour.
    package mutating func note(at now: WallTime) throws(SystemError) {
        time = now
        if let nextWrite, now < nextWrite, nextWrite <= now + Self.writePause { return }
        nextWrite = now + Self.writePause
        try mark.write(Array("\(now.rfc3339) \(identity)".utf8))
    }
}
