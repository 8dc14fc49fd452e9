import Document
import Glibc
import LinuxIO
import SpoolInspection
import SpoolModel
import TestSupport
import Testing

/// Which files of `feedback/` are read, whatever consumers put there.
@Suite struct FeedbackFilesTests {
    private let place: TemporaryDirectory
    private let feedback: Directory

    init() throws {
        place = try TemporaryDirectory()
        let app = try place.directory.makeChild(Array("weather".utf8), mode: 0o755)
        _ = try app.makeChild(Array("work".utf8), mode: 0o700)
        feedback = try app.makeChild(Array("feedback".utf8), mode: 0o755)
    }

    /// An entry that is not a feedback file of the daemon.
    enum Stranger: String, CaseIterable {
        case link, pipe, folder, socket, foreign
    }

    private static func name(_ second: Int, node: String = "host-a") -> String {
        "20261121T0800\(second < 10 ? "0" : "")\(second).000000Z-\(node).jsonl"
    }

    private func publish(_ second: Int, node: String = "host-a") throws {
        try feedback.put(Self.name(second, node: node), #"{"v":1,"kind":"token","second":\#(second)}"# + "\n")
    }

    private func put(_ stranger: Stranger, _ name: String) throws {
        let path = "weather/feedback/" + name
        switch stranger {
        case .link: try place.link(path, to: "/etc/passwd")
        case .pipe: try place.makePipe(path)
        case .folder: _ = try feedback.makeChild(Array(name.utf8), mode: 0o755)
        case .socket: try place.makeSocket(path)
        case .foreign:
            try feedback.put(name, #"{"v":1,"kind":"token","second":99}"# + "\n")
            try #require(unsafe chown(place.path + "/" + path, 65534, 65534) == 0)
        }
    }

    private static let strangers = Stranger.allCases.filter { $0 != .foreign || geteuid() == 0 }

    /// Reads all files, and returns the seconds in their lines.
    private func seconds(_ feedback: FeedbackFiles, limit: Int = FeedbackFiles.mostFiles) throws -> [Int] {
        var seconds: [Int] = []
        while true {
            let files = try feedback.nextFiles(limit: limit)
            guard !files.isEmpty else { return seconds }
            for file in files {
                try feedback.read(file) { _, line in
                    if case .good(let node, _) = line, let second = node["second"]?.integer { seconds.append(second) }
                }
            }
        }
    }

    @Test(arguments: strangers)
    func `what is not the daemon's is skipped, is told once, and holds up nothing`(stranger: Stranger) throws {
        try publish(1)
        try put(stranger, Self.name(2))
        try publish(3)
        for apps in [[], ["weather"]] {
            let feedback = FeedbackFiles(spool: place.path, apps: apps)
            #expect(try seconds(feedback) == [1, 3])
            let skipped = feedback.takeSkipped()
            #expect(skipped.map(\.path) == ["weather/feedback/\(Self.name(2))"])
            #expect(try seconds(feedback).isEmpty && feedback.takeSkipped().isEmpty)
        }
    }

    @Test(arguments: strangers, ["2249", "9999"])
    func `a foreign file with a late name hides no file of the daemon`(stranger: Stranger, year: String) throws {
        try publish(1)
        try put(stranger, "\(year)1121T080000.000000Z-host-a.jsonl")
        let feedback = FeedbackFiles(spool: place.path, apps: [])
        #expect(try seconds(feedback) == [1])
        try publish(2)
        #expect(try seconds(feedback) == [2])
        let next = FeedbackFiles(spool: place.path, app: "weather", after: feedback.cursor(of: "weather"))
        try publish(3)
        #expect(try seconds(next) == [3])
    }

    @Test(arguments: ["99991121T080000.000000Z", "20269999T080000.000000Z", "ZZZZZZZZZZZZZZZZZZZZZZZ"])
    func `a file of the daemon that a consumer has renamed hides no other`(stamp: String) throws {
        try publish(1)
        try self.feedback.rename(Array(Self.name(1).utf8), to: self.feedback, as: Array("\(stamp)-host-a.jsonl".utf8))
        let feedback = FeedbackFiles(spool: place.path, apps: [])
        #expect(try seconds(feedback) == [1])
        try publish(2)
        #expect(try seconds(feedback) == [2])
    }

    @Test func `few files at a time are the same files in the same order`() throws {
        for second in (1...9).reversed() { try publish(second, node: second.isMultiple(of: 2) ? "host-b" : "host-a") }
        for name in ["0.jsonl", "5.jsonl"] { try place.link("weather/feedback/" + name, to: "/etc/passwd") }
        let feedback = FeedbackFiles(spool: place.path, apps: [])
        #expect(try seconds(feedback, limit: 2) == Array(1...9))
        #expect(feedback.takeSkipped().count == 2)
    }

    @Test func `a file that takes the place of another after the listing is not read`() throws {
        try publish(1)
        let feedback = FeedbackFiles(spool: place.path, apps: [])
        let files = try feedback.nextFiles()
        try self.feedback.unlink(Array(Self.name(1).utf8))
        try place.link("weather/feedback/" + Self.name(1), to: "/etc/passwd")
        let isRead = try feedback.read(try #require(files.first)) { _, _ in Issue.record("a link was followed") }
        #expect(!isRead && feedback.takeSkipped().count == 1)
    }

    @Test func `the folder of an app that cannot be opened holds up no other app`() throws {
        let other = try place.directory.makeChild(Array("a".utf8), mode: 0o755)
        try other.put("feedback", "")
        try publish(1)
        let feedback = FeedbackFiles(spool: place.path, apps: [])
        #expect(try seconds(feedback) == [1])
        #expect(feedback.takeSkipped().map(\.path) == ["a/feedback"])
    }

    @Test(arguments: [true, false])
    func `a file or a link in place of feedback is skipped with the remedy for it`(isLink: Bool) throws {
        try place.directory.openChild(Array("weather".utf8)).removeChild(Array("feedback".utf8))
        if isLink {
            try place.link("weather/feedback", to: "/tmp")
        } else {
            try place.directory.openChild(Array("weather".utf8)).put("feedback", "")
        }
        let feedback = FeedbackFiles(spool: place.path, apps: [])
        #expect(try feedback.nextFiles().isEmpty)
        let skipped = feedback.takeSkipped()
        #expect(skipped.map(\.path) == ["weather/feedback"])
        #expect(skipped.map(\.hint) == ["move it away: the daemon makes a folder in its place"])
    }

    @Test func `foreign files are told up to a limit, and the last message says so`() throws {
        for number in 0..<150 { try place.link("weather/feedback/\(number).jsonl", to: "/etc/passwd") }
        let feedback = FeedbackFiles(spool: place.path, apps: [])
        #expect(try seconds(feedback).isEmpty)
        let skipped = feedback.takeSkipped()
        #expect(skipped.count == 101 && skipped.last?.message.contains("without a message") == true)
    }
}
