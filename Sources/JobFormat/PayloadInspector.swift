import Document

/// Inspects a payload as the user wrote it: collects its facts, and reports values that Apple would not understand.
///
/// A value of the wrong type is a fault if nothing could be shown, else a warning: the gateway takes it. A key that Apple does
/// not document is a warning: Apple may add it. Paths are built only for findings.
struct PayloadInspector {
    private(set) var findings: Findings
    private(set) var facts: PayloadFacts = []
    private(set) var keys: [PlacedKey] = []
    /// The indices of plain scalars of YAML that are sent as strings.
    private(set) var strings: Set<Int> = []

    init(at base: PathBase, room: Int) {
        findings = Findings(at: base, room: room)
    }

    /// Inspects a whole payload, a mapping, whose path is `path`.
    mutating func inspect(payload node: Node, path: String) {
        guard node.kind == .mapping else {
            return findings.expected(node.mappingName, node, reason: .badPayload, about: path)
        }
        for member in node.members {
            if member.key.isText("aps"), !member.value.isNull {
                facts.insert(.aps)
                inspect(aps: member.value, path: join(path, "aps"))
            } else if member.key.isText("mdm") {
                facts.insert(.mdm)
            }
        }
    }

    /// Inspects an `alert`: a string, or a mapping of documented keys.
    mutating func inspect(alert node: Node, path: @autoclosure () -> String) {
        for member in node.members {
            guard let key = AlertKey(rawValue: member.key.text) else {
                warnUnknown(member.key, path: path(), among: AlertKey.allCases.map(\.rawValue))
                continue
            }
            check(member.value, key.type, path: join(path(), key.rawValue))
        }
    }

    /// Inspects a `sound`: a string, or a mapping for critical alerts.
    mutating func inspect(sound node: Node, path: @autoclosure () -> String) {
        for member in node.members {
            switch member.key.text {
            case "critical": check(member.value, .flag, path: join(path(), "critical"))
            case "name": check(member.value, .string, path: join(path(), "name"))
            case "volume":
                if check(member.value, .number, path: join(path(), "volume")), !Self.isFraction(member.value) {
                    let words = Diagnostic("is not between 0 (silent) and 1 (full)", at: member.value.place)
                    findings.warn(words, about: join(path(), "volume"))
                }
            default: warnUnknown(member.key, path: path(), among: ["critical", "name", "volume"])
            }
        }
    }

    private mutating func inspect(aps node: Node, path: @autoclosure () -> String) {
        guard node.kind == .mapping else {
            return findings.expected(node.mappingName, node, reason: .badPayload, about: path())
        }
        for member in node.members {
            guard let key = APSKey(rawValue: member.key.text) else {
                facts.insert(.other)
                warnUnknown(member.key, path: path(), among: APSKey.allCases.map(\.rawValue))
                continue
            }
            guard !isAbsent(key, member.value) else {
                check(member.value, key.type, path: join(path(), key.rawValue))
                continue
            }
            facts.insert(key.fact)
            if !key.isOrdinary { keys.append(PlacedKey(key, at: member.key.place, path: join(path(), key.rawValue))) }
            inspect(key, member.value, path: join(path(), key.rawValue))
        }
    }

    private mutating func inspect(_ key: APSKey, _ node: Node, path: @autoclosure () -> String) {
        // Apple documents only a number, but other vendors' servers accept `increment` and raise the badge themselves.
        if key == .badge, node.isText("increment") { return }
        guard check(node, key.type, path: path()) else { return }
        if key == .alert { inspect(alert: node, path: path()) }
        if key == .sound { inspect(sound: node, path: path()) }
        if key == .event, node.isText("start") { facts.insert(.start) }
        if key == .event, node.isText("end") { facts.insert(.end) }
        if key == .relevanceScore, !Self.isFraction(node) { facts.insert(.wideRelevance) }
        if key == .interruptionLevel { checkInterruptionLevel(node, path: path()) }
        if [.timestamp, .staleDate, .dismissalDate].contains(key) { checkSeconds(node, path: path()) }
    }

    /// Whether a device acts as if the member was not there.
    private func isAbsent(_ key: APSKey, _ node: Node) -> Bool {
        node.isNull || key.type == .flag && !node.isPayloadYes
    }

    /// Warns about a time that is in milliseconds, or in a smaller unit.
    private mutating func checkSeconds(_ node: Node, path: @autoclosure () -> String) {
        guard let number = node.integer.map(Double.init) ?? Double(node.text), number >= 1e11 else { return }
        let hint = "write \(number < 1e14 ? String(Int(number / 1000)) : "whole seconds")"
        let words = Diagnostic(
            "is after the year 5138, because Apple counts seconds since 1970, not milliseconds", hint: hint,
            at: node.place)
        findings.warn(words, about: path())
    }

    /// Whether a number is from 0 to 1.
    private static func isFraction(_ node: Node) -> Bool {
        Double(node.text).map { (0...1).contains($0) } ?? false
    }

    /// Warns about a level that Apple does not document.
    mutating func checkInterruptionLevel(_ node: Node, path: String) {
        let levels = ["passive", "active", "time-sensitive", "critical"]
        guard !levels.contains(node.text) else { return }
        let hint = "use one of \(levels.joined(separator: ", "))"
        findings.warn(
            Diagnostic("unknown level \(Diagnostic.quoted(node.text))", hint: hint, at: node.place), about: path)
    }

    /// Reports a value of the wrong type.
    ///
    /// - Returns: Whether the value has the type.
    @discardableResult
    mutating func check(_ node: Node, _ type: APSType, path: @autoclosure () -> String) -> Bool {
        if type.fits(node) {
            type.collectStrings(in: node, into: &strings)
            return true
        }
        if type.tolerates(node) {
            findings.warn(Self.misfit(node, type), about: path())
        } else {
            findings.add(.badPayload, Self.misfit(node, type), about: path())
        }
        return false
    }

    private static func misfit(_ node: Node, _ type: APSType) -> Diagnostic {
        let message = "expected \(type.expectation(for: node)), found \(node.kindName)"
        return Diagnostic(message, hint: type.hint(for: node), at: node.place)
    }

    private mutating func warnUnknown(_ key: Node, path: String, among known: @autoclosure () -> [String]) {
        findings.warn(Self.unknown(key, among: known()), about: path)
    }

    private static func unknown(_ key: Node, among known: [String]) -> Diagnostic {
        let near = Nearest.word(to: key.text, among: known)
        let hint = near.map { "did you mean `\($0)`?" } ?? misplaced(key)
        return Diagnostic(
            "Apple does not document a key \(Diagnostic.quoted(key.text)) here", hint: hint, at: key.place)
    }

    private static func misplaced(_ key: Node) -> String {
        // The example in pyapns used `message`, which no device ever showed.
        key.isText("message") ? "use `alert` for the text to show" : "put custom keys next to `aps`, not in it"
    }
}

/// Returns the path of a member, for messages; `path` is that of its object, and empty for the outermost one.
func join(_ path: String, _ key: String) -> String {
    path.isEmpty ? key : "\(path).\(key)"
}
