import FCMServing
import HTTP2
import JSON
import NGHTTP2
import PushModel

/// FCM's API HTTP v1, as a strict gateway serves it.
struct FCMAPI: ServedAPI {
    private var head = SendHead(HeaderFields())
    private var message = MessageReading()
    private var parser = JSON.Parser()
    /// The number of PINGs without an open stream since the latest request.
    private var idlePingCount = 0

    private static let idlePingLimit = 2

    var port: Port { .fcm }

    var address: [UInt8] { message.target?.bytes ?? [] }

    var usesToken: Bool { true }

    var goAwayDebug: String { "session_timed_out" }

    var takesEffectUnanswered: Bool { false }

    /// Google's front end ends a connection that is kept alive by PINGs, after a few of them.
    mutating func isExcessivePing(withStreams openStreamCount: Int) -> Bool {
        guard openStreamCount == 0 else { return false }
        idlePingCount += 1
        return idlePingCount > Self.idlePingLimit
    }

    var oddities: [String] { head.oddities }

    mutating func read(
        _ request: ServerSession.Request, at now: WallTime, _ random: inout SplitMix
    ) -> ArraySlice<UInt8> {
        idlePingCount = 0
        head = SendHead(request.fields)
        message.read(request.body, parser: &parser)
        return Array(name(at: now, &random).utf8)[...]
    }

    /// The name of a message: a fake one if it is only checked.
    private func name(at now: WallTime, _ random: inout SplitMix) -> String {
        let messages = "projects/\(head.project ?? "-")/messages/"
        guard !message.isValidateOnly else { return messages + "fake_message_id" }
        guard let address = message.target, !address.kind.isShared else { return messages + "\(random.next() >> 1)" }
        return messages + "0:\(now.nanoseconds / 1_000)%\(String(random.next() | 1 << 63, radix: 16))"
    }

    mutating func answer(
        to request: ServerSession.Request, id: ArraySlice<UInt8>, at now: GatewayPolicy.Now,
        sharing shared: inout GatewayState
    ) -> RequestAnswer {
        guard head.project != nil else { return .page(404, path: head.path) }
        guard request.body.count == request.bodyByteCount else { return .page(413) }
        do throws(GoogleError) {
            let project = try shared.fcm.checkAccess(of: head, at: now.wallTime)
            guard shared.fcm.spendQuota(of: project, at: now.moment) else {
                var answer = RequestAnswer(.quotaExceeded(.project, of: project.id), isIndented: head.isIndented)
                answer.retryAfter = shared.fcm.rules.quota?.retryAfter
                return answer
            }
            if let fault = head.fault ?? message.fault { throw fault }
            if let target = message.target, let fault = shared.fcm.fault(of: target) { throw fault }
            return .json(200, Array("{\"name\":\"\(String(decoding: id, as: UTF8.self))\"}".utf8), head.isIndented)
        } catch {
            return RequestAnswer(error, isIndented: head.isIndented)
        }
    }

    func answer(by script: FaultAction.Answer, at now: WallTime) -> RequestAnswer {
        var answer =
            if let text = script.text {
                RequestAnswer.text(script.status ?? 200, text)
            } else if let reason = script.reason, reason.isEmpty {
                RequestAnswer(status: script.status ?? 500)
            } else if let status = script.status, script.reason == nil, script.quota == nil {
                RequestAnswer.page(status, path: head.path)
            } else {
                RequestAnswer(error(named: script.reason ?? "UNREGISTERED", script), isIndented: head.isIndented)
            }
        answer.retryAfter = script.retryAfter
        return answer
    }

    private func error(named reason: String, _ script: FaultAction.Answer) -> GoogleError {
        let project = head.project ?? ""
        let error =
            if let quota = script.quota {
                GoogleError.quotaExceeded(
                    quota, of: quota == .project ? project : String(decoding: address, as: UTF8.self))
            } else {
                GoogleError.named(reason, inProject: project)
            }
        return script.status.map(error.with(code:)) ?? error
    }

    func note(
        _ request: ServerSession.Request, id: ArraySlice<UInt8>, as arrival: Ledger.Arrival, in ledger: inout Ledger
    ) {
        let isKept = ledger.keepsEntries
        guard !message.isValidateOnly else {
            if isKept { ledger.note(.init(.check, request, id: id, as: arrival)) }
            return
        }
        let head = KeptHead(
            stream: request.stream, id: isKept ? Array(id) : [], fields: isKept ? request.fields : HeaderFields(),
            target: message.target?.kind.key)
        ledger.note(
            ArrivedRequest(
                token: address, payload: isKept ? request.body : [], expiry: nil, priority: nil, head: head),
            as: arrival)
    }
}
