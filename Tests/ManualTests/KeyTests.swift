import Document
import Foundation
import PushDaemon
import TestSupport
import Testing

@testable import Configuration

/// The keys of the configuration: pushspool.yaml(5) and the program know the same keys and defaults.
struct KeyTests {
    /// One of the two kinds of files, with its heading in pushspool.yaml(5).
    enum File: String, CaseIterable {
        case daemon = ".SH PUSHSPOOL.YAML\n"
        case app = ".SH APPS/*.YAML\n"
    }

    @Test(arguments: File.allCases)
    func `pushspool.yaml(5) has every key that the program knows, and no other`(file: File) throws {
        let told = Set(try Self.entries(file).keys)
        let known = try Self.known(file, sections: Self.sections(of: told))
        #expect(known.subtracting(told) == [])
        #expect(told.subtracting(known) == [])
        #expect(known.count > 15)
    }

    @Test(arguments: File.allCases)
    func `pushspool.yaml(5) has the default of every key that is not required`(file: File) throws {
        for (key, text) in try Self.entries(file) where !key.hasPrefix("credentials.") {
            #expect(text.contains("Default: ") || text.contains("Required."), "\(key)")
        }
    }

    @Test func `the daemon's defaults in pushspool.yaml(5) are the program's`() throws {
        let text = Self.document(try Self.entries(.daemon).compactMapValues(Self.literalDefault))
        var report = Report()
        let configuration = DaemonConfiguration(try Self.parse(text), report: &report)
        #expect(report.inOrder.isEmpty, "\(report.inOrder)")
        #expect(configuration == DaemonConfiguration())
    }

    @Test(arguments: AppConfiguration.Wire.Name.allCases)
    func `an app's defaults in pushspool.yaml(5) are the program's`(wire: AppConfiguration.Wire.Name) throws {
        let entries: [String: String] = try Self.entries(.app).filter { key, text in
            let isBinary = key.hasPrefix("binary.") || key.hasPrefix("feedback_service.")
            return switch wire {
            case .http2: !isBinary && !text.contains("FCM only")
            case .binary:
                !text.contains("HTTP/2 only") && !text.contains("FCM only")
                    && !text.lowercased().contains("not with \\fbbinary\\fr")
            case .fcm: !isBinary && !text.contains("APNs over HTTP/2 only")
            }
        }.mapValues { text in
            let isOfFCM = wire == .fcm && text.contains("FCM default: ")
            return isOfFCM
                ? text.replacing("\nDefault: ", with: "\n").replacing("FCM default: ", with: "Default: ") : text
        }
        let identity =
            wire == .fcm
            ? "credentials: {service_account: weather-adminsdk.json}"
            : "environment: sandbox\ntopic: com.example.weather\ncredentials: {certificate: weather.pem}"
        let required = "protocol: \(wire.rawValue)\n\(identity)\n"
        // Without this section the feedback service is not asked.
        let section = wire == .binary ? "feedback_service: {}\n" : ""
        let defaults = Self.document(entries.compactMapValues(Self.literalDefault))
        let apps = try [required + section, required + defaults].map { text in
            var report = Report()
            let app = AppConfiguration(name: "weather", try Self.parse(text), report: &report)
            #expect(report.inOrder.isEmpty, "\(report.inOrder)")
            return app
        }
        #expect(apps[0] == apps[1])
    }

    @Test(arguments: File.allCases)
    func `the schema has every key that the program knows, and no other`(file: File) throws {
        let sections = Self.sections(of: Set(try Self.entries(file).keys))
        let known = try Self.known(file, sections: sections)
        let shown = try Self.schemas(file).values.reduce(into: Set()) { $0.formUnion(Self.properties($1).keys) }
        #expect(known.subtracting(shown) == [])
        #expect(shown.subtracting(known) == [])
    }

    @Test func `the daemon's defaults in the schema are the program's`() throws {
        let schema = try #require(try Self.schemas(.daemon).values.first)
        let defaults = Self.properties(schema).compactMapValues { $0["default"] }
        #expect(defaults.count > 15)
        var report = Report()
        let text = Self.document(
            defaults.mapValues { "\($0)" == "0" || "\($0)" == "1" ? "\($0 as? Bool == true)" : "\($0)" })
        let configuration = DaemonConfiguration(try Self.parse(text), report: &report)
        #expect(report.inOrder.isEmpty, "\(report.inOrder)\n\(text)")
        #expect(configuration == DaemonConfiguration())
    }

    @Test(arguments: [
        ("http2", "credentials.service_account", "credentials.token"), ("fcm", "environment", "project"),
        ("fcm", "credentials.token", "credentials.service_account"), ("binary", "window", "binary.window"),
        ("http2", "binary", "window"),
    ])
    func `the schema of a protocol refuses the keys of others`(wire: String, refused: String, own: String) throws {
        let schema = try #require(try Self.schemas(.app)[wire])
        let keys = Self.properties(schema, sections: true)
        #expect(keys[refused] == nil && keys[own] != nil)
    }

    // MARK: The schema

    /// The schema of a file; for apps, one for each protocol.
    private static func schemas(_ file: File) throws -> [String: [String: Any]] {
        let bytes = file == .daemon ? JSONSchema.daemon.document : JSONSchema.app.document
        let schema = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        return try #require(file == .daemon ? ["": schema] : schema["$defs"] as? [String: [String: Any]])
    }

    /// The keys that a schema allows, with what it says of each: those of sections in place of these, or beside them.
    private static func properties(
        _ schema: [String: Any], under prefix: String = "", sections: Bool = false
    ) -> [String: [String: Any]] {
        var found: [String: [String: Any]] = [:]
        for (name, value) in schema["properties"] as? [String: Any] ?? [:] {
            // What is `false` is another protocol's.
            guard let value = value as? [String: Any] else { continue }
            let isSection = value["properties"] != nil
            if !isSection || sections { found[prefix + name] = value }
            found.merge(properties(value, under: "\(prefix)\(name).", sections: sections)) { $1 }
        }
        return found
    }

    // MARK: The page

    /// The keys of a part of pushspool.yaml(5), each with the text about it.
    private static func entries(_ file: File) throws -> [String: String] {
        let part = try #require(try Manual.page("pushspool.yaml.5").components(separatedBy: file.rawValue).last)
            .components(separatedBy: "\n.SH ")[0]
        var entries: [String: String] = [:]
        for entry in part.components(separatedBy: ".TP\n").dropFirst() {
            let (head, text) = (entry.prefix { $0 != "\n" }, entry.components(separatedBy: ".PP\n")[0])
            for key in head.matches(of: #/\\fB(.*?)\\fR/#) { entries[String(key.output.1)] = text }
        }
        return entries
    }

    /// The default in the text about a key, if it can be written in a file: not "the host's name".
    private static func literalDefault(_ text: String) -> String? {
        guard let match = text.firstMatch(of: #/(?:^|\n)Default: (.*?)\.\n/#) else { return nil }
        let value = String(match.output.1)
        return value.contains(" ") || value == "none" ? nil : value
    }

    /// A YAML document that gives these keys, of at most two words, these values.
    private static func document(_ values: [String: String]) -> String {
        var text = ""
        var sections: [String: [String]] = [:]
        for (key, value) in values {
            let words = key.split(separator: ".", maxSplits: 1).map(String.init)
            if words.count == 1 {
                text += "\(key): \(value)\n"
            } else {
                sections[words[0], default: []].append("\(words[1]): \(value)")
            }
        }
        return sections.reduce(text) { $0 + "\($1.key): {\($1.value.joined(separator: ", "))}\n" }
    }

    private static func parse(_ text: String) throws -> Node {
        let folder = try TemporaryDirectory()
        try folder.directory.put("x.yaml", text)
        return try ConfigurationFile.parse(folder.path + "/x.yaml")
    }

    // MARK: The program

    /// The mappings that hold some of these keys: of `a.b.c` these are `a` and `a.b`.
    private static func sections(of keys: Set<String>) -> Set<String> {
        var sections: Set<String> = []
        for key in keys {
            let words = key.split(separator: ".")
            for count in 1..<max(words.count, 1) { sections.insert(words[..<count].joined(separator: ".")) }
        }
        return sections
    }

    /// A mapping with an unknown key, and in it those of `sections` that lie in it, as YAML in one line.
    private static func mapping(at path: String, _ sections: Set<String>) -> String {
        let inner = sections.filter { $0.hasPrefix(path) && !$0.dropFirst(path.count).contains(".") }.map {
            ", \($0.dropFirst(path.count)): \(mapping(at: $0 + ".", sections))"
        }
        return "{qqqqqqqq: 1\(inner.joined())}"
    }

    /// What the program says it knows when it is asked for what it cannot.
    private static func known(_ file: File, sections: Set<String>) throws -> Set<String> {
        let document = try parse(mapping(at: "", sections) + "\n")
        var report = Report()
        switch file {
        case .daemon: _ = DaemonConfiguration(document, report: &report)
        case .app: _ = AppConfiguration(name: "x", document, report: &report)
        }
        var keys: Set<String> = []
        for finding in report.inOrder where finding.message.contains("qqqqqqqq") {
            let names = try #require(finding.hint?.components(separatedBy: "known keys: ").last)
            let prefix = finding.path.map { $0.isEmpty ? "" : $0 + "." } ?? ""
            for name in names.components(separatedBy: ", ") { keys.insert(prefix + name) }
        }
        return keys.subtracting(sections)
    }
}
