/// The misbehavior of a simulated gateway: an ordered list of rules, of which the first match acts.
///
/// Write one rule per line, or several on a line with `;` between them. A rule is one action with conditions and
/// options, each of the form `word` or `name=value`, in any order. `#` starts a comment. A value with spaces needs
/// double quotes.
///
/// ```text
/// nth=3 refuse status=8                        # the third notification of the run
/// every=1000 refuse status=8 delay=500ms       # half a second late; all that arrives meanwhile is lost
/// token=dead refuse status=8                   # tokens that begin with the bytes DE AD
/// connection=1 after=5 close                   # five notifications, then the end without an answer
/// probability=0.01 seed=7 reset times=3
/// connection=2-4 refuse-connection
/// ```
/// The catalog's article lists every condition, action and option.
public struct FaultScript: Sendable, Hashable {
    /// The rules, in order.
    let rules: [FaultRule]

    /// A script without rules: the gateway behaves like a strict gateway.
    public static let none = FaultScript(rules: [])

    init(rules: [FaultRule]) {
        self.rules = rules
    }

    /// Parses a script.
    ///
    /// - Throws: `Fault` for the first rule that cannot be parsed. Show it to the script's author.
    public init(_ text: String) throws(Fault) {
        var rules: [FaultRule] = []
        for line in ScriptLine.lines(of: Array(text.utf8)) {
            var words = try line.words()
            while let word = words.first {
                guard word.isSeparator else {
                    let end = words.firstIndex(where: \.isSeparator) ?? words.endIndex
                    rules.append(try RuleReader.rule(from: words[..<end]))
                    words = words[end...]
                    continue
                }
                words.removeFirst()
            }
        }
        self.rules = rules
    }

    /// Whether the script has no rules.
    public var isEmpty: Bool { rules.isEmpty }

    /// The reason why a script cannot be parsed, and the place.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The line, from 1.
        public let line: Int
        /// The column of the first byte at fault, from 1.
        public let column: Int
        /// The problem.
        public let message: String
        /// The suggested correction.
        public let hint: String

        /// `3:7: message (hint)`, to be printed after a file name and a colon.
        public var description: String { "\(line):\(column): \(message) (\(hint))" }
    }
}
