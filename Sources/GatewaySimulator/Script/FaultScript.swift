/// What a simulated gateway does wrong, and when: ordered rules of which the first that fits acts.
///
/// One rule a line, or several in a line with `;` between them. A rule is one action among conditions and options, all
/// of the form `word` or `name=value`, in any order; `#` starts a comment; a value with spaces stands in double quotes.
///
/// ```text
/// nth=3 refuse status=8                        # the third notification of the run
/// every=1000 refuse status=8 delay=500ms       # half a second late, all that comes meanwhile is lost
/// token=dead refuse status=8                   # tokens that begin with the bytes DE AD
/// connection=1 after=5 close                   # five notifications, then the end without a word
/// probability=0.01 seed=7 reset times=3
/// connection=2-4 refuse-connection
/// ```
/// The catalog's article lists every condition, action and option.
public struct FaultScript: Sendable, Hashable {
    /// The rules, in order.
    let rules: [FaultRule]

    /// A script without rules: the gateway does what a strict gateway should.
    public static let none = FaultScript(rules: [])

    init(rules: [FaultRule]) {
        self.rules = rules
    }

    /// Reads a script.
    ///
    /// - Throws: `Fault` for the first rule that cannot be read. Show it to whoever wrote the script.
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

    /// Whether there is nothing in it.
    public var isEmpty: Bool { rules.isEmpty }

    /// Why a script cannot be read, and where.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The line, from 1.
        public let line: Int
        /// The first byte at fault in the line, from 1.
        public let column: Int
        /// What is wrong.
        public let message: String
        /// What to write instead.
        public let hint: String

        /// `3:7: message (hint)`, to be put behind a file's name and a colon.
        public var description: String { "\(line):\(column): \(message) (\(hint))" }
    }
}
