import ArgumentParser
import Configuration
import Document
import DoorModel
import Foundation
import LinuxIO
import OpenSSL
import SpoolModel
import TestSupport
import Testing
import YAML

@testable import pushspool_door

/// The doors' manual pages and samples, against the program.
struct DoorPageTests {
    /// The keys of a section of doors.yaml(5), each with the text about it.
    private func entries(_ section: String) throws -> [String: String] {
        let part = try #require(
            try Manual.page("doors.yaml.5").components(separatedBy: ".SH \(section)\n").dropFirst().first)
        var entries: [String: String] = [:]
        for entry in part.components(separatedBy: "\n.SH ")[0].components(separatedBy: ".TP\n").dropFirst() {
            let key = try #require(entry.firstMatch(of: #/^\\fB(.*?)\\fR/#)?.output.1)
            entries[String(key)] = entry
        }
        return entries
    }

    /// What the program says of a document.
    private func report(_ text: String) throws -> (DoorConfiguration, Report) {
        var (parser, report) = (YAML.Parser(), Report())
        let document = try parser.parse(Array(text.utf8)).root
        return (DoorConfiguration(document, report: &report), report)
    }

    /// The keys that the program names as known when it finds an unknown one, below a key.
    private func known(_ text: String) throws -> Set<String> {
        let hints = try report(text).1.inOrder.compactMap(\.hint)
        let list = try #require(hints.first { $0.hasPrefix("known keys: ") })
        return Set(list.dropFirst("known keys: ".count).components(separatedBy: ", "))
    }

    private static let producer =
        "producers: {a: {certificate: a.pem, apps: [x]}, b: {bearer_file: b.token, apps: [x]}}"

    /// The doors that the defaults are checked with, and the keys that each must have.
    private static let required = [
        "apns": #"listen: "127.0.0.1:1", certificate: a.pem"#, "http": #"listen: "127.0.0.1:4""#,
        "xmlrpc": #"listen: "127.0.0.1:2""#,
        "zeromq": #"bind: "tcp://127.0.0.1:3", app: x"#,
    ]

    @Test func `doors.yaml(5) has every key that the program knows, and no other`() throws {
        var keys: Set<String> = []
        for key in try known("zzzzzzzzzz: 1\n\(Self.producer)") {
            switch key {
            case "limits", "group", "apns", "http", "xmlrpc", "zeromq", "log", "metrics":
                keys.formUnion(try known("\(key): {zzzzzzzzzz: 1}\n\(Self.producer)").map { "\(key).\($0)" })
            default: keys.insert(key)
            }
        }
        #expect(Set(try entries("KEYS").keys) == keys)
        let producers = try known("producers: {a: {certificate: a.pem, apps: [x], zzzzzzzzzz: 1}}")
        #expect(Set(try entries("PRODUCERS").keys) == producers)
    }

    @Test func `the defaults in doors.yaml(5) are the program's`() throws {
        var sections: [String: [String]] = [:]
        for (key, text) in try entries("KEYS") {
            guard let value = text.firstMatch(of: #/Default: (\S+)\.\n/#)?.output.1, value != "none" else {
                #expect(text.contains("Required") || text.contains("Default: "), "\(key)")
                continue
            }
            let parts = key.split(separator: ".").map(String.init)
            sections[parts.count > 1 ? parts[0] : "", default: []].append("\(parts[parts.count - 1]): \(value)")
        }
        #expect(Set(sections.keys).isSuperset(of: Self.required.keys))
        let lines = sections.map { section, values in
            guard !section.isEmpty else { return values.joined(separator: "\n") }
            let members = values + (Self.required[section].map { [$0] } ?? [])
            return "\(section): {\(members.joined(separator: ", "))}"
        }
        let (read, faults) = try report((lines + [Self.producer]).joined(separator: "\n"))
        let doors = Self.required.map { "\($0): {\($1)}" }
        let (standard, _) = try report((doors + [Self.producer]).joined(separator: "\n"))
        #expect(faults.inOrder.isEmpty, "\(faults.inOrder)")
        #expect(read.differences(from: standard) == [] && read.logLevel == standard.logLevel)
        #expect(read.connectionLimit == standard.connectionLimit)
    }

    /// The configurations in the manual, the README, the guides and `etc`.
    private static func samples() throws -> [String] {
        let page = try Manual.page("doors.yaml.5").components(separatedBy: ".SH EXAMPLES\n.nf\n").last ?? ""
        let documents = try (["README.md"] + Manual.guides).flatMap { try Manual.fences($0) }
            .filter { $0.words == "yaml door" }.map(\.text)
        try #require(documents.count == 3)
        let files = try ["etc/doors.yaml", "etc/container/demo/doors.yaml"].map(Manual.text)
        return files + [page.components(separatedBy: "\n.fi")[0]] + documents
    }

    @Test func `every sample is accepted without a word, with the files that it names`() throws {
        for sample in try Self.samples() {
            let folder = try TemporaryDirectory()
            let authority = try CertificateAuthority(commonName: "Door")
            let server = try authority.issue(.server(["localhost"]))
            let files = [
                ("fleet.pem", try ThrowawayTokenKey().publicKeyPEM), ("door.pem", try server.certificatePEM()),
                ("billing.pem", try authority.issue(.push(topic: "com.example")).certificatePEM()),
                ("door.key", try server.keyPEM()), ("doors.yaml", Array(sample.utf8)),
                ("cron.token", Array("0123456789abcdef\n".utf8)), ("shop.token", Array("fedcba9876543210\n".utf8)),
                ("demo.token", Array(try Manual.text("etc/container/demo/demo.token").utf8)),
            ]
            for (name, bytes) in files {
                try folder.directory.create(Array(name.utf8), mode: 0o600).write(bytes)
            }
            let set = DoorLoader(path: folder.path + "/doors.yaml").load()
            #expect(set.findings.isEmpty, "\(sample)\n\(set.findings)")
            #expect((set.relayContext != nil) == sample.contains("\napns:"), "\(sample)")
        }
    }

    @Test func `pushspool-door(1) has every metric with its kind, and no other`() throws {
        let page = try Manual.page("pushspool-door.1")
        let told = page.matches(of: #/\\fB(pushspool_door_[a-z_]+)\\fR \((\w+)\)/#).map { ($0.output.1, $0.output.2) }
        let known = DoorMetric.allCases.map { ($0.family.name, $0.family.kind.rawValue) }
        #expect(told.map { "\($0.0) \($0.1)" }.sorted() == known.map { "\($0.0) \($0.1)" }.sorted())
    }

    @Test func `pushspool-door(1) names every command and option`() throws {
        let page = try Manual.page("pushspool-door.1")
        for command in PushspoolDoor.configuration.subcommands {
            #expect(page.contains("\n\\fB\(command._commandName)\\fR\n"), "\(command)")
            let help = PushspoolDoor.helpMessage(for: command, columns: 1000)
            for option in help.matches(of: #/(--[a-z-]+)/#).map(\.output.1) {
                #expect(page.contains(String(option)), "\(option)")
            }
        }
    }
}
