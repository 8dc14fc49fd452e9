package import Configuration
import Document
import JSON
package import LinuxIO
package import SpoolModel

extension ControlAnswer {
    /// Reads an answer; `nil` if the line is not an answer of this version.
    init?(line: [UInt8]) {
        var parser = JSON.Parser()
        guard let root = try? parser.parse(line).root else { return nil }
        self.init(root)
    }
}

/// A client that sends commands to the daemon over its control socket.
package final class ControlClient {
    private let connection: LocalConnection
    private var lines = ControlLines()

    /// The longest wait for an answer. The daemon may wait for notifications that are on a connection.
    private static let limit = Duration.seconds(120)

    /// Connects to the daemon of a configuration.
    ///
    /// - Throws: `SystemError`: ENOENT or ECONNREFUSED if no daemon is running, or it has no socket there.
    package init(_ configuration: DaemonConfiguration) throws(SystemError) {
        let node = configuration.node ?? Host.name
        connection = try LocalConnection(DaemonConfiguration.controlName(of: node), in: configuration.control.folder)
    }

    /// The daemon's process id.
    package var process: Int32? { connection.peer?.processID }

    /// Sends a command and returns the answer; `nil` if the daemon ended before it answered.
    ///
    /// - Throws: `SystemError`: the connection is broken.
    package func answer(to request: ControlRequest) throws(SystemError) -> ControlAnswer? {
        try answers(to: [request]).first
    }

    /// Sends commands together, at most some dozens, and returns the answers, in their order; fewer if the daemon ended
    /// before it answered.
    ///
    /// - Throws: `SystemError`: the connection is broken.
    package func answers(to requests: [ControlRequest]) throws(SystemError) -> [ControlAnswer] {
        try connection.write(requests.flatMap(\.line))
        var answers: [ControlAnswer] = []
        while answers.count < requests.count, let answer = try nextAnswer() { answers.append(answer) }
        return answers
    }

    /// Waits for another answer; `nil` if the daemon ended first.
    ///
    /// - Throws: `SystemError`: the connection is broken.
    package func nextAnswer() throws(SystemError) -> ControlAnswer? {
        while true {
            if let line = lines.next() {
                if let answer = ControlAnswer(line: line) { return answer }
                return ControlAnswer(
                    .refused, "the daemon's answer has another format version",
                    hint: "use the daemon's version of pushspool")
            }
            guard !lines.isTooLong else { return nil }
            let piece = try connection.read(within: Self.limit)
            guard !piece.isEmpty else { return nil }
            lines.append(piece[...])
        }
    }
}
