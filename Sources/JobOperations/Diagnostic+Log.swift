package import Document

extension Diagnostic {
    /// The message with long keys and quotations cut: people put tokens in the wrong places, and a log must not contain any.
    package var sentenceForLog: String {
        let pieces = message.split(separator: "`", omittingEmptySubsequences: false)
        let words = pieces.enumerated().map { $0 % 2 == 0 ? String($1) : Self.cut($1) }.joined(separator: "`")
        let keys = path.map { $0.split(separator: ".").map(Self.cut).joined(separator: ".") + ": " }
        return (keys ?? "") + words
    }

    private static func cut(_ text: Substring) -> String {
        text.count <= 24 ? String(text) : text.prefix(8) + "…"
    }
}
