import Document
import Testing

@testable import FCMModel

struct AddressRuleTests {
    private static let installation = "dQw4w9WgXcQ-_AbCdEfGhI"
    private static let token = installation + ":APA91bF" + String(repeating: "x-_9", count: 33)

    @Test(arguments: [
        (AddressRule.registrationToken, token), (.registrationToken, String(repeating: "a", count: 20)),
        (.registrationToken, String(repeating: "a", count: 1024)), (.installation, installation),
        (.topic, "a"), (.topic, "news-eu_1.0~x%"), (.topic, String(repeating: "t", count: 900)),
    ])
    func `an address of the right length and characters has no fault`(rule: AddressRule, text: String) {
        #expect(rule.fault(of: Array(text.utf8).span) == nil)
    }

    @Test(arguments: [
        (AddressRule.registrationToken, "", AddressRule.Fault.empty),
        (.registrationToken, String(repeating: "a", count: 19), .length(19)),
        (.registrationToken, String(repeating: "a", count: 1025), .length(1025)),
        (.registrationToken, "<" + token + ">", .stray("<", place: 1)),
        (.registrationToken, "aé b", .stray("é", place: 2)),
        (.installation, String(repeating: "a", count: 21), .length(21)),
        (.installation, token, .stray(":", place: 23)),
        (.topic, "/topics/news", .stray("/", place: 1)), (.topic, String(repeating: "t", count: 901), .length(901)),
    ])
    func `the fault of a text is its first`(rule: AddressRule, text: String, fault: AddressRule.Fault) {
        #expect(rule.fault(of: Array(text.utf8).span) == fault)
    }

    @Test(arguments: [
        (String(repeating: "0aF9", count: 16), true), (String(repeating: "0aF9", count: 15), false),
        (String(repeating: "0aFg", count: 16), false),
    ])
    func `a device token of Apple's is recognised by 64 hexadecimal digits`(text: String, isLike: Bool) {
        #expect(AddressRule.isLikeDeviceToken(Array(text.utf8).span) == isLike)
    }
}

struct TopicConditionTests {
    @Test(arguments: [
        ("'a' in topics", ["a"]), ("  'a'  in  topics ", ["a"]), ("!('a' in topics)", ["a"]),
        ("'a' in topics && ('b' in topics || !('c' in topics))", ["a", "b", "c"]),
        ("((('a' in topics)))||!'b' in topics", ["a", "b"]),
        ("'a' in topics||'b' in topics||'c' in topics||'d' in topics||'a' in topics", ["a", "b", "c", "d", "a"]),
    ])
    func `a condition names its topics`(text: String, topics: [String]) throws {
        #expect(try TopicCondition(text).topics == topics)
    }

    @Test(arguments: [
        ("", "is empty"), ("   ", "is empty"), ("a in topics", "has no topic in single quotes (at byte 1)"),
        ("\"a\" in topics", "has no topic in single quotes (at byte 1)"),
        ("'a", "has a quote without an end (at byte 1)"), ("'' in topics", "has a topic without a name (at byte 1)"),
        ("'a' in topic", "has no `in topics` behind a topic (at byte 8)"),
        ("'a b' in topics", "has a space in the name of a topic (at byte 1)"),
        ("'a' in topics 'b' in topics", "has no operator (at byte 15)"),
        ("'a' in topics & 'b' in topics", "has no operator (at byte 15)"),
        ("'a' in topics &&", "ends where a topic is expected (at byte 16)"),
        ("(('a' in topics)", "does not close a parenthesis (at byte 16)"),
        ("'a' in topics)", "closes a parenthesis that is not open (at byte 14)"),
        ("'a' in topics\n", "has no operator (at byte 14)"),
    ])
    func `the fault of a condition says where it is`(text: String, message: String) {
        #expect { try TopicCondition(text) } throws: { ($0 as? TextFault)?.message == message }
    }

    @Test func `a condition has at most five topics`() {
        let text = Array(repeating: "'a' in topics", count: 6).joined(separator: " || ")
        #expect { try TopicCondition(text) } throws: {
            ($0 as? TextFault)?.message == "names 6 topics; the limit is 5"
        }
    }
}
