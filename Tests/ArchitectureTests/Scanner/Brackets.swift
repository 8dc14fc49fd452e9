/// Which bracket closes which, among the tokens of a file.
struct Brackets {
    /// The index of the partner of each round, square and curly bracket.
    private(set) var partners: [Int: Int] = [:]
    /// The line of the first bracket without a partner, if there is one.
    private(set) var unbalancedLine: Int?

    private static let closings = [")": "(", "]": "[", "}": "{"]

    /// Pairs the brackets of `tokens`.
    init(_ tokens: [Token]) {
        var open: [Int] = []
        for (index, token) in tokens.enumerated() where token.kind == .symbol {
            if "([{".contains(token.text) {
                open.append(index)
            } else if let opening = Self.closings[token.text] {
                guard let last = open.popLast(), tokens[last].text == opening else {
                    unbalancedLine = token.line
                    return
                }
                partners[last] = index
                partners[index] = last
            }
        }
        unbalancedLine = open.first.map { tokens[$0].line }
    }

    /// The index of the bracket that closes the one at `index`; `index` itself when that is not a bracket.
    func closing(_ index: Int) -> Int {
        max(partners[index] ?? index, index)
    }
}
