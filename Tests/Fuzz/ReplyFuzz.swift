import APNSHTTP2
import APNSModel
import Document
import JSON
import PushHTTP2
import PushModel

/// What a gateway says in words: the bodies of answers, the debug data of a GOAWAY, and the tokens of clients.
enum ReplyFuzz {
    private static let statuses = [200, 400, 403, 404, 405, 410, 413, 429, 500, 502, 503, 299]

    /// The first byte chooses the status, the rest is the text.
    static func run(_ input: Span<UInt8>) {
        guard let first = input.isEmpty ? nil : input[0] else { return }
        let text = input.extracting(droppingFirst: 1).array[...]
        var parser = JSON.Parser()
        reply(status: statuses[Int(first) % statuses.count], text, &parser)
        if let reason = Reply.reason(ofGoAway: text, parser: &parser) {
            promise(Reason(name: reason.rawValue) == reason, "a reason without a name")
        }
        token(text, &parser)
    }

    private static func reply(status: Int, _ body: ArraySlice<UInt8>, _ parser: inout JSON.Parser) {
        let reply = Reply(status: status, body: body, parser: &parser)
        promise(reply.isAcceptance == (status == 200), "another status")
        promise((reply.refusal == nil) == reply.isAcceptance, "neither accepted nor refused")
        promise((reply.failureClass == nil) == reply.isAcceptance, "a fault of no class")
        promise(reply.goneSince == nil || status == 410, "a time that only 410 tells")
        promise(reply.name.utf8.count <= 64 && reply.name.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a wild name")
    }

    private static func token(_ text: ArraySlice<UInt8>, _ parser: inout JSON.Parser) {
        guard let signed = ProviderToken.parse(ProviderToken.bearer(in: text) ?? text, parser: &parser) else { return }
        promise(!signed.signature.isEmpty, "a token without a signature")
        let dots = signed.signingInput.count { $0 == UInt8(ascii: ".") }
        promise(dots == 1, "\(dots) full stops in what was signed")
        promise(!"\(signed.token)".contains(signed.token.text), "a token that prints itself")
    }
}
