import APNSHTTP2
import APNSModel
import Foundation
import PushModel
import Testing

/// The table of reasons against `Tests/Fixtures/http2-reasons.json`, which was written from Apple's pages without it.
struct ReasonTests {
    @Test(arguments: ReasonFile.contents.reasons)
    func `every reason has the class of the vectors`(entry: ReasonFile.Entry) throws {
        let reason = try #require(Reason(status: entry.status, name: entry.reason))
        #expect(reason.rawValue == entry.reason && reason.status == entry.status)
        #expect(reason.failureClass == FailureClass(vectorName: entry.class))
        #expect((entry.aliases ?? []).allSatisfy { Reason(status: entry.status, name: $0) == reason })
    }

    @Test func `the table has no reason beyond those of the vectors`() {
        #expect(ReasonFile.contents.count == Reason.allCases.count)
        #expect(Set(ReasonFile.contents.reasons.map(\.reason)) == Set(Reason.allCases.map(\.rawValue)))
    }

    @Test(arguments: ReasonFile.contents.reasons.filter { $0.escalate != nil })
    func `a reason that the vectors escalate stops the app when it comes again`(entry: ReasonFile.Entry) throws {
        let reason = try #require(Reason(name: entry.reason))
        #expect(entry.escalate?.hasSuffix("app-misconfigured") == true)
        #expect(reason.failureClassWhenRepeated == .app)
    }

    @Test func `nothing is tried at once for ever`() {
        #expect(Reason.allCases.allSatisfy { $0.failureClassWhenRepeated != .retryNow })
    }

    @Test func `only a 410 carries a time`() {
        let timed = ReasonFile.contents.reasons.filter(\.timestamp)
        #expect(timed.map(\.reason) == ["Unregistered", "ExpiredToken"] && timed.allSatisfy { $0.status == 410 })
    }

    @Test func `an unknown reason goes by its status`() {
        for (status, name) in ReasonFile.contents.unknownReasonPolicy {
            let statuses =
                status == "5xx" ? [500, 502, 599] : status == "other" ? [0, 201, 302, 418] : [Int(status) ?? -1]
            for status in statuses {
                #expect(FailureClass(status: status) == FailureClass(vectorName: name), "\(status)")
            }
        }
    }

    @Test func `a reason beside another status is unknown`() {
        #expect(Reason(status: 400, name: "Unregistered") == nil)
        #expect(Reason(status: 410, name: "Unregistered") == .unregistered)
        #expect(Reason(name: "unregistered") == nil)
    }

    @Test func `whatever stops an app says what to do`() {
        let stopping = Reason.allCases.filter { $0.failureClass == .app || $0.failureClassWhenRepeated == .app }
        #expect(stopping.allSatisfy { $0.hint != nil })
    }
}

/// The fixture, in its words.
struct ReasonFile: Decodable {
    struct Entry: Decodable, CustomTestStringConvertible {
        let status: Int
        let reason: String
        let `class`: String
        let timestamp: Bool
        let escalate: String?
        let aliases: [String]?

        var testDescription: String { reason }
    }

    let count: Int
    let unknownReasonPolicy: [String: String]
    let reasons: [Entry]

    static let contents: ReasonFile = {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do {
            return try decoder.decode(
                ReasonFile.self, from: Data(contentsOf: tests.appending(path: "Fixtures/http2-reasons.json")))
        } catch {
            Issue.record("the vectors cannot be read: \(error)")
            return ReasonFile(count: 0, unknownReasonPolicy: [:], reasons: [])
        }
    }()
}

extension FailureClass {
    init?(vectorName: String) {
        let names: [String: FailureClass] = [
            "token-gone": .tokenGone, "bad-token": .token, "bad-message": .message, "app-misconfigured": .app,
            "retry-now": .retryNow, "retry-later": .retryLater, "server-error": .serverError,
        ]
        guard let found = names[vectorName] else { return nil }
        self = found
    }
}
