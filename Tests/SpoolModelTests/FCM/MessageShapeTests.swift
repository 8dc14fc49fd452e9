import Document
import JSON
import JobFormat
import PushModel
import TestSupport
import Testing

/// Whatever a job is made of, its requests are JSON.
struct MessageShapeTests {
    private static let members = [
        #""payload":{"data":{"a":"1"},"android":{"ttl":null,"notification":{"title":"T"}},"webpush":{"headers":null}}"#,
        #""payload":"{\"apns\":{\"headers\":{}},\"android_v2\":{\"background_sync\":{},\"collapseKey\":null}}""#,
        #""payload":{"androidV2":null,"android":null,"fcmOptions":{},"beam":[1,{"x":null}]}"#, #""payload":{}"#,
        #""notification":{"title":"é\u0001\"","body":null}"#, #""data":{"a":"\u0001","b":"2"}"#,
        #""android":{"priority":null,"ttl":"60s","data":{}}"#, #""android":{}"#,
        #""androidV2":{"remoteNotification":{"notification":{}}}"#, #""webpush":{"headers":{"Ttl":"5"},"data":{}}"#,
        #""webpush":{"fcm_options":{"link":"https://e.x"}}"#,
        #""apns":{"payload":{"aps":{"x":1.0}},"headers":{"a":"b"}}"#,
        #""apns":{}"#, #""alert":"\u0001""#, #""alert":{"title":"T","loc-key":"k","loc-args":["\"",""]}"#,
        #""badge":1"#, #""sound":"s""#, #""image":"https://e.x/\"""#, #""tag":"\\""#, #""custom":{}"#,
        #""custom":{"a":[1,"\u0001"],"b":null,"":true}"#, #""priority":"high""#, #""priority":5"#,
        #""collapse_id":"a\"b""#, #""expiration":"now""#, #""expiration":"+90d""#,
    ]

    /// A mapping's members, without keys that are there twice.
    private func some(using random: inout SeededGenerator) -> String {
        let picked = (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in
            Self.members.randomElement(using: &random)
        }
        var keys: Set<Substring> = []
        return picked.filter { keys.insert($0.prefix { $0 != ":" }).inserted }.joined(separator: ",")
    }

    @Test func `every request has a message of its own address that is valid JSON`() throws {
        var (count, parser) = (0, JSON.Parser())
        for seed in UInt64(0)..<3000 {
            var random = SeededGenerator(seed: seed)
            var context = context(.fcm)
            context.toleratesUnknownFields = true
            let (job, own) = (some(using: &random), some(using: &random))
            let read = json(
                "{\(job),\"recipients\":[{\"token\":\"\(registrationToken)\",\(own)},{\"fid\":\"\(installationID)\"}]}",
                context)
            for payload in read.payloads where !payload.isEmpty {
                let whole = #"{"message":{"token":"x","# + payload.replacing("\u{01}", with: "0") + "}}"
                // The parser refuses a key that is there twice.
                #expect(throws: Never.self, "seed \(seed): \(payload)") { try parser.parse(Array(whole.utf8)) }
                #expect(payload.contains(#""ttl":"#), "seed \(seed): \(payload)")
                count += 1
            }
        }
        #expect(count > 1000)
    }

    @Test func `a long job is read in chunks, each of one batch that shares its payload`() {
        let count = 3 * JobChunk.capacity
        let tokens = (0..<count).map { "\"\(registrationToken)\($0)\"\n" }.joined()
        let job = lines("{\"defaults\":{\"alert\":\"x\"}}\n\(tokens)", context(.fcm), piece: 4096)
        #expect(job.chunks.map(\.indices.count).allSatisfy { $0 <= JobChunk.capacity })
        #expect(job.chunks.allSatisfy { $0.batches.count == 1 && $0.batches[0].sharedPayload != nil })
        #expect(job.sent.count == count && job.summary.rejectedCount == 0)
    }

    @Test func `many collapse keys for one token get one warning`() {
        let recipients = (0..<8).map { "{\"token\":\"\(registrationToken)\",\"collapse_id\":\"\($0 % 6)\"}\n" }
        func complaints(_ count: Int) -> [String] {
            lines("{\"defaults\":{\"alert\":\"x\"}}\n\(recipients.prefix(count).joined())", context(.fcm)).allLines
        }
        #expect(complaints(4) == [])
        let warning =
            "job:6:1: warning: collapse_id: the job has more than 4 different ones for this address\n"
            + "hint: use fewer: FCM stores messages of any 4 for a device that is offline"
        #expect(complaints(5) == [warning] && complaints(8) == [warning])
    }
}
