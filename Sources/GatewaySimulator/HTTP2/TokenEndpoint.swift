import FCMServing
import HTTP2
import JSON
import NGHTTP2
import PushModel

/// Google's token endpoint for service accounts.
struct TokenEndpoint: ServedAPI {
    private var path = ""
    private var isPost = false
    private var authority = ""
    private var parser = JSON.Parser()
    private(set) var oddities: [String] = []

    var port: Port { .oauth }

    var address: [UInt8] { [] }

    var usesToken: Bool { false }

    var goAwayDebug: String { "session_timed_out" }

    var takesEffectUnanswered: Bool { false }

    mutating func isExcessivePing(withStreams openStreamCount: Int) -> Bool { false }

    private static let form = "application/x-www-form-urlencoded"

    mutating func read(
        _ request: ServerSession.Request, at now: WallTime, _ random: inout SplitMix
    ) -> ArraySlice<UInt8> {
        func text(_ name: String) -> String {
            let value = request.fields.value(of: name, in: 0..<request.fields.count) ?? []
            return String(decoding: value, as: UTF8.self)
        }
        (path, isPost, authority) = (text(":path"), text(":method") == "POST", text(":authority"))
        let type = text("content-type")
        oddities = type.hasPrefix(Self.form) ? [] : ["content-type is \"\(type)\", not \(Self.form)"]
        return []
    }

    mutating func answer(
        to request: ServerSession.Request, id: ArraySlice<UInt8>, at now: GatewayPolicy.Now,
        sharing shared: inout GatewayState
    ) -> RequestAnswer {
        guard path == "/token", isPost else { return .page(404, path: path) }
        do throws(TokenError) {
            let asked = try TokenRequest(form: request.body, parser: &parser)
            let audiences: Set = [FCMProject.tokenURI, "https://\(authority)\(path)"]
            if let fault = asked.fault(at: now.wallTime, audiences: audiences) { throw fault }
            return .json(200, try shared.fcm.issueToken(to: asked, at: now.wallTime))
        } catch {
            var answer = RequestAnswer.json(error.status, error.json)
            answer.reason = error.code
            return answer
        }
    }

    func answer(by script: FaultAction.Answer, at now: WallTime) -> RequestAnswer {
        var answer =
            if let text = script.text {
                RequestAnswer.text(script.status ?? 200, text)
            } else if let reason = script.reason, !reason.isEmpty {
                RequestAnswer.json(script.status ?? 400, TokenError(reason, "Bad Request").json)
            } else {
                RequestAnswer.page(script.status ?? 503, path: path)
            }
        answer.reason = script.reason ?? ""
        answer.retryAfter = script.retryAfter
        return answer
    }

    func note(
        _ request: ServerSession.Request, id: ArraySlice<UInt8>, as arrival: Ledger.Arrival, in ledger: inout Ledger
    ) {
        ledger.note(.init(.accessToken, request, id: id, as: arrival))
    }
}
