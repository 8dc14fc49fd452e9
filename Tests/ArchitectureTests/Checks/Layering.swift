/// Which target may use which, in one table: the layers of the program from the bottom up.
///
/// A target imports targets of lower layers only, and of those only the ones listed here. The manifest is checked
/// against the table too, so a new dependency is a decision made in this file, in sight of the picture.
enum Layering {
    /// What decides: neither waits nor locks nor reads a clock.
    static let cores: Set = [
        "Document", "APNSModel", "FCMModel", "PushModel", "APNSBinary", "HTTP2", "PushHTTP2", "APNSHTTP2", "FCMHTTP2",
        "APNSServing", "FCMServing", "JobFormat", "JournalModel", "SpoolModel", "DoorModel",
    ]
    /// The wrappers of C libraries, and the only homes of `unsafe`.
    static let islands: Set = ["JSON", "YAML", "XML", "NGHTTP2", "MicroHTTPD", "OpenSSL", "LinuxIO", "ZeroMQ"]

    /// For every target of the product: the modules it may import.
    static let allowed: [String: Set<String>] = [
        "Document": [],
        "APNSModel": ["Document"],
        "FCMModel": ["Document"],
        "PushModel": ["APNSModel", "Document"],
        "APNSBinary": ["PushModel", "APNSModel"],
        "HTTP2": [],
        "PushHTTP2": ["HTTP2", "PushModel", "APNSModel", "Document"],
        "APNSHTTP2": ["PushHTTP2", "HTTP2", "PushModel", "APNSModel", "Document"],
        "FCMHTTP2": ["FCMModel", "PushHTTP2", "HTTP2", "PushModel", "Document"],
        "FCMServing": ["HTTP2", "PushModel", "FCMModel", "Document"],
        "APNSServing": ["APNSHTTP2", "HTTP2", "PushModel", "APNSModel", "Document"],
        "JobFormat": ["PushModel", "FCMModel", "APNSModel", "Document"],
        "JournalModel": ["JobFormat", "PushModel", "Document"],
        "SpoolModel": ["JournalModel", "JobFormat", "PushModel", "FCMModel", "APNSModel", "Document"],
        "DoorModel": ["APNSServing", "APNSHTTP2", "SpoolModel", "JobFormat", "PushModel", "APNSModel", "Document"],
        "JSON": ["CSimdJSON", "Document"],
        "YAML": ["CYAML", "Document"],
        "XML": ["CExpat", "Document"],
        "NGHTTP2": ["CNGHTTP2", "HTTP2"],
        "OpenSSL": ["COpenSSL", "Glibc", "Synchronization"],
        "MicroHTTPD": ["CMicroHTTPD", "Glibc"],
        "LinuxIO": ["CLinux", "Document", "Dispatch", "Glibc", "Synchronization"],
        "ZeroMQ": ["CZeroMQ", "LinuxIO", "Glibc"],
        "SecureTransport": ["LinuxIO", "OpenSSL", "Document", "Synchronization"],
        "SpoolStore": [
            "LinuxIO", "SpoolModel", "JournalModel", "JobFormat", "PushModel", "Document", "Synchronization",
        ],
        "SpoolClient": ["LinuxIO", "SpoolModel", "JobFormat"],
        "Gateways": [
            "ServiceProcess", "SecureTransport", "OpenSSL", "JSON", "NGHTTP2", "LinuxIO", "APNSBinary", "APNSHTTP2",
            "FCMHTTP2", "PushHTTP2", "HTTP2", "PushModel", "APNSModel", "Logging", "Synchronization",
        ],
        "GatewaySimulator": [
            "SecureTransport", "OpenSSL", "JSON", "NGHTTP2", "LinuxIO", "APNSBinary", "APNSServing", "APNSHTTP2",
            "FCMServing", "HTTP2", "PushModel", "APNSModel", "Document", "Logging", "Synchronization",
        ],
        "Configuration": [
            "ServiceProcess", "DoorModel", "SpoolStore", "Gateways", "SecureTransport", "JSON", "YAML", "LinuxIO",
            "OpenSSL", "SpoolModel", "APNSBinary", "APNSHTTP2", "FCMHTTP2", "PushHTTP2", "PushModel", "APNSModel",
            "Document",
            "Synchronization",
        ],
        "Doctor": [
            "ServiceProcess", "JobOperations", "Configuration", "SpoolStore", "Gateways", "SecureTransport", "JSON",
            "LinuxIO", "OpenSSL", "SpoolModel", "JournalModel", "JobFormat", "APNSHTTP2", "PushHTTP2", "PushModel",
            "APNSModel", "Document", "Logging", "Synchronization",
        ],
        "ChannelManagement": [
            "Configuration", "Gateways", "JSON", "LinuxIO", "SpoolModel", "JobFormat", "APNSHTTP2", "PushHTTP2",
            "PushModel", "APNSModel", "Document",
        ],
        "JobOperations": [
            "ServiceProcess", "Configuration", "SpoolStore", "JSON", "YAML", "LinuxIO", "OpenSSL", "SpoolModel",
            "JournalModel", "JobFormat", "APNSBinary", "PushModel", "Document", "Logging",
        ],
        "SharedResources": [
            "ServiceProcess", "Configuration", "SpoolStore", "Gateways", "JSON", "LinuxIO", "SpoolModel", "JobFormat",
            "PushModel", "Logging", "Synchronization",
        ],
        "AppEngine": [
            "ServiceProcess", "SharedResources", "JobOperations", "Configuration", "SpoolStore", "Gateways", "LinuxIO",
            "SpoolModel", "JournalModel", "JobFormat", "APNSBinary", "PushModel", "APNSModel", "Document", "Logging",
            "Synchronization",
        ],
        "ServiceProcess": ["LinuxIO", "PushModel", "Document", "Logging", "Synchronization"],
        "PushDaemon": [
            "ServiceProcess", "AppEngine", "SharedResources", "JobOperations", "Configuration", "SpoolStore",
            "Gateways", "JSON", "LinuxIO", "OpenSSL", "SpoolModel", "JournalModel", "PushModel", "APNSModel",
            "Document", "Logging", "Synchronization",
        ],
        "Doors": [
            "DoorModel", "ServiceProcess", "SpoolInspection", "JobOperations", "Configuration", "APNSServing",
            "MicroHTTPD", "XML", "ZeroMQ", "Doctor", "SecureTransport", "SpoolClient", "SpoolStore", "JSON", "NGHTTP2",
            "LinuxIO", "OpenSSL", "SpoolModel", "JobFormat", "HTTP2", "APNSHTTP2", "PushModel", "APNSModel", "Document",
            "Logging", "Synchronization",
        ],
        "pushspool-door": [
            "CommandProgram", "Doors", "Configuration", "DoorModel", "Doctor", "ServiceProcess", "LinuxIO", "Document",
            "ArgumentParser", "Logging",
        ],
        "SpoolInspection": [
            "ServiceProcess", "JobOperations", "Doctor", "Configuration", "SpoolClient", "SpoolStore", "JSON",
            "LinuxIO", "SpoolModel", "JournalModel", "JobFormat", "PushModel", "Document",
        ],
        "Report": [
            "SpoolInspection", "SpoolStore", "JSON", "LinuxIO", "SpoolModel", "JournalModel", "JobFormat", "PushModel",
            "APNSModel", "Document",
        ],
        "Demo": [
            "PushDaemon", "ServiceProcess", "Configuration", "GatewaySimulator", "SpoolClient", "JSON", "LinuxIO",
            "OpenSSL", "APNSHTTP2", "PushModel", "APNSModel", "Document", "Logging", "Synchronization",
        ],
        "CommandProgram": ["ServiceProcess", "LinuxIO", "Document", "ArgumentParser"],
        "pushspool": [
            "CommandProgram", "Demo", "Report", "SpoolInspection", "PushDaemon", "ServiceProcess", "JobOperations",
            "ChannelManagement", "Doctor", "Configuration", "GatewaySimulator", "SpoolClient", "SpoolStore", "LinuxIO",
            "SpoolModel", "JournalModel", "JobFormat", "PushModel", "FCMModel", "APNSModel", "Document",
            "ArgumentParser",
            "Logging",
        ],
    ]

    /// The C libraries' own targets, which hold no Swift.
    static let systemLibraries: Set = [
        "CSimdJSON", "CYAML", "CExpat", "CMicroHTTPD", "CNGHTTP2", "COpenSSL", "CZeroMQ", "CLinux",
    ]

    /// Imports that the table does not allow, and files of targets it does not know.
    static func findings(in file: SourceFile) -> [Finding] {
        guard file.isSource else { return [] }
        guard let modules = allowed[file.target] else {
            return [file.finding(1, "target \(file.target) has no place in the layers: add it to Layering.allowed")]
        }
        return imports(of: file).filter { !modules.contains($0.module) }
            .map { file.finding($0.line, "\(file.target) may not import \($0.module)") }
    }

    /// Dependencies in the manifest that the table does not allow, from its calls of `layer`, `.target` and
    /// `.executableTarget`.
    static func manifestFindings(in manifest: SourceFile) -> [Finding] {
        declaredTargets(in: manifest).flatMap { target in
            target.dependencies.filter { !(allowed[target.name] ?? []).contains($0) }
                .map { manifest.finding(target.line, "\(target.name) may not depend on \($0)") }
        }
    }

    /// What comes with the system or with Swift, and is no row's business.
    static let ofSystem: Set = ["Dispatch", "Glibc", "Synchronization"]

    /// Rows of the page's table of targets that name other modules than the layers do, and targets without a row.
    static func documentFindings(in page: String) -> [Finding] {
        let path = "Sources/PushDaemon/Documentation.docc/Architecture.md"
        let rows = page.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .compactMap { line, text -> (line: Int, target: String, uses: Set<String>)? in
                let cells = text.split(separator: "|", omittingEmptySubsequences: false)
                guard cells.count == 6 else { return nil }
                let target = cells[2].filter { !" `".contains($0) }
                let uses = cells[4].filter { $0 != " " }.split(separator: ",").map(String.init)
                return allowed[target].map { _ in (line + 1, target, Set(uses)) }
            }
        let known = Set(rows.map(\.target))
        return allowed.keys.filter { !known.contains($0) }.sorted()
            .map { Finding(path: path, line: 1, message: "\($0) has no row") }
            + rows.filter { $0.uses != allowed[$0.target]?.subtracting(ofSystem) }
            .map {
                Finding(path: path, line: $0.line, message: "the row of \($0.target) differs from Layering.allowed")
            }
    }

    /// The modules a file imports, with the line of each.
    static func imports(of file: SourceFile) -> [(module: String, line: Int)] {
        let kinds: Set = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        return file.tokens.indices.compactMap { index in
            guard file.tokens[index].isCode("import"), file.token(index, -1)?.isCode(".") != true else { return nil }
            let module = file.token(index, 1).flatMap { kinds.contains($0.text) ? file.token(index, 2) : $0 }
            return module.map { ($0.text, $0.line) }
        }
    }

    /// The product's targets as the manifest declares them; constants such as `logging` count as their module.
    static func declaredTargets(in manifest: SourceFile) -> [(name: String, dependencies: [String], line: Int)] {
        manifest.tokens.indices.compactMap { index in
            let isTarget = ["layer", "target", "executableTarget"].contains { manifest.tokens[index].isCode($0) }
            guard isTarget, let open = manifest.token(index, 1), open.isCode("(") else { return nil }
            let call = manifest.tokens[index...manifest.brackets.closing(index + 1)]
            guard let name = call.first(where: { $0.kind == .string }), allowed[name.text] != nil else { return nil }
            return (name.text, dependencies(in: call), name.line)
        }
    }

    private static func dependencies(in call: ArraySlice<Token>) -> [String] {
        let products = ["logging": "Logging", "argumentParser": "ArgumentParser"]
        let list = call.drop { !$0.isCode("[") }.prefix { !$0.isCode("]") }
        return list.compactMap { token in
            switch token.kind {
            case .string: token.text
            case .word: products[token.text] ?? token.text
            case .quotedWord, .number, .symbol: nil
            }
        }
    }
}
