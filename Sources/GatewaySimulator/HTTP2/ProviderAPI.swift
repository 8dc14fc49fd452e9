import APNSHTTP2
import APNSModel
import APNSServing
import Document
import HTTP2
import JSON
import NGHTTP2
import PushModel

/// Apple's API for providers, as a strict gateway serves it: notifications, broadcasts and the channel management.
struct ProviderAPI: ServedAPI {
    private var identity: ClientIdentity
    private var reading = RequestReading()
    private var lastGoodPayload: [UInt8] = []
    private var parser = JSON.Parser()

    /// Serves a client with a certificate for these topics, or without one.
    init(certificateTopics: [String]?) {
        identity = ClientIdentity(certificateTopics: certificateTopics)
    }

    var port: Port { .http2 }

    var address: [UInt8] { reading.token }

    var usesToken: Bool { identity.usesToken }

    var goAwayDebug: String { "{\"reason\":\"Shutdown\"}" }

    mutating func isExcessivePing(withStreams openStreamCount: Int) -> Bool { false }

    var takesEffectUnanswered: Bool {
        if case .management = reading.purpose { true } else { false }
    }

    var oddities: [String] {
        var oddities: [String] = []
        if let name = reading.strangeName { oddities.append("\(name) is not a field that Apple defines") }
        if reading.isAboutChannel, reading.topic != nil {
            oddities.append("a request about a channel has no apns-topic")
        }
        return oddities
    }

    mutating func read(
        _ request: ServerSession.Request, at now: WallTime, _ random: inout SplitMix
    ) -> ArraySlice<UInt8> {
        reading.read(request.fields)
        return reading.id ?? random.identifier()[...]
    }

    mutating func answer(
        to request: ServerSession.Request, id: ArraySlice<UInt8>, at now: GatewayPolicy.Now,
        sharing shared: inout GatewayState
    ) -> RequestAnswer {
        identified(judge(request, at: now, sharing: &shared))
    }

    func answer(by script: FaultAction.Answer, at now: WallTime) -> RequestAnswer {
        let isPlain = script.status == nil && script.text == nil
        let reason = script.reason ?? (isPlain ? Reason.unregistered.rawValue : "")
        let status = script.status ?? Reason(name: reason)?.status ?? 400
        var answer = RequestAnswer(status: status, text: script.text)
        answer.reason = reason
        answer.timestamp = script.timestamp ?? (status == 410 ? now.nanoseconds / 1_000_000 : nil)
        answer.retryAfter = script.retryAfter
        return identified(answer)
    }

    func note(
        _ request: ServerSession.Request, id: ArraySlice<UInt8>, as arrival: Ledger.Arrival, in ledger: inout Ledger
    ) {
        let isKept = ledger.keepsEntries
        if case .management = reading.purpose {
            guard isKept else { return }
            return ledger.note(.init(.channelManagement, request, id: id, as: arrival))
        }
        let head = KeptHead(
            stream: request.stream, id: isKept ? Array(id) : [], fields: isKept ? request.fields : HeaderFields())
        ledger.note(
            ArrivedRequest(
                token: reading.token, payload: isKept ? request.body : [], expiry: reading.expiry,
                priority: reading.priority, head: head),
            as: arrival)
    }

    private func identified(_ answer: RequestAnswer) -> RequestAnswer {
        var answer = answer
        answer.idField = reading.isAboutChannel ? "apns-request-id" : "apns-id"
        return answer
    }
}

extension ProviderAPI {
    private mutating func judge(
        _ request: ServerSession.Request, at now: GatewayPolicy.Now, sharing shared: inout GatewayState
    ) -> RequestAnswer {
        let (terms, rules) = (shared.requestTerms, shared.requestTerms.rules)
        if let fault = reading.addressFault ?? fault(ofIdentityAt: now, terms: terms) ?? reading.headFault {
            return RequestAnswer(fault)
        }
        if reading.isAboutChannel, !rules.allowsBroadcast { return RequestAnswer(.featureNotEnabled) }
        if case .management(let managed) = reading.purpose {
            return shared.channels.answer(managed, about: reading.token, body: request.body, rules)
        }
        if rules.requiresPushType, reading.pushType == nil { return RequestAnswer(.invalidPushType) }
        if let fault = payloadFault(of: request, rules: rules) { return RequestAnswer(fault) }
        guard let app = reading.purpose.app else { return rules.answer(about: reading.token) }
        return shared.channels.answer(
            aboutBroadcastBy: app, channel: reading.token, expiry: reading.expiry, rules)
    }

    private mutating func payloadFault(of request: ServerSession.Request, rules: RequestRules) -> Reason? {
        if request.bodyByteCount == 0 { return .payloadEmpty }
        if request.bodyByteCount > rules.payloadLimit(of: reading) { return .payloadTooLarge }
        guard rules.refusesOtherThanObjects, !request.body[...].isSame(as: lastGoodPayload) else { return nil }
        guard isObject(request.body) else { return .badRequestPayload }
        lastGoodPayload = request.body
        return nil
    }

    private mutating func fault(ofIdentityAt now: GatewayPolicy.Now, terms: RequestTerms) -> Reason? {
        identity.fault(in: reading, at: now, terms: terms, parser: &parser)
    }

    private mutating func isObject(_ bytes: [UInt8]) -> Bool {
        do throws(Diagnostic) {
            return try parser.parse(bytes).root.kind == .mapping
        } catch {
            // The client's own tests must find the reason.
            return false
        }
    }
}
