import JobFormat
import PushModel
import Testing

/// Recipients that bring their own `apns-id`.
struct OwnIDTests {
    private let id = "123e4567-e89b-12d3-a456-42665544000"

    /// The ids of all recipients, in file order, rejected ones too.
    private func ids(_ job: ReadJob) -> [String] {
        var ids: [Int: NotificationID] = [:]
        for chunk in job.chunks {
            for batch in chunk.batches { for index in batch.indices { ids[index] = batch.id(at: index) } }
            for recipient in chunk.rejected { ids[recipient.index] = recipient.id }
        }
        return ids.sorted { $0.key < $1.key }.map(\.value.description)
    }

    @Test func `recipients with an id keep it, also when they are rejected, and the others derive theirs`() {
        let job = json(
            """
            {"alert":"x","recipients":[
              {"token":"0A","apns_id":"\(id)a"},{"token":"0B"},{"token":"0C","apns_id":"\(id)C"},
              {"token":"abc","apns_id":"\(id)d"},{"token":"0E","badge":1,"apns_id":"\(id)e"},{"token":"0F"}]}
            """)
        let derived = [1, 5].map { NotificationID(job: context().job, index: $0).description }
        #expect(ids(job) == [id + "a", derived[0], id + "c", id + "d", id + "e", derived[1]])
        #expect(job.sent.map(\.reason) == [nil, nil, nil, "BadDeviceToken", nil, nil])
    }

    @Test func `recipients with an id share one batch and one payload`() {
        let recipients = (0..<9).map { #"{"token":"0A","apns_id":"\#(id)\#($0)"}"# }.joined(separator: ",")
        let job = json(#"{"alert":"x","recipients":[\#(recipients)]}"#)
        #expect(job.chunks.map(\.batches.count) == [1] && job.chunks[0].batches[0].sharedPayload != nil)
        let slice = job.chunks[0].batches[0][4..<6]
        #expect(slice.indices.map { slice.id(at: $0).description } == [id + "4", id + "5"])
    }

    @Test func `the ids of a long job go on from chunk to chunk`() {
        let count = 2 * JobChunk.capacity + 3
        let lines = (0..<count).map { #"{"token":"0A","alert":"x","apns_id":"\#(uuid($0))"}"# + "\n" }.joined()
        let job = SpoolModelTests.lines(lines)
        #expect(job.chunks.count == 3 && ids(job) == (0..<count).map(uuid))
    }

    /// The UUID of a number of up to four digits.
    private func uuid(_ number: Int) -> String {
        let digits = String(number)
        return "123e4567-e89b-12d3-a456-42665544" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    @Test(arguments: [#""token":"0A""#, #""channel":"dGlja2VyLTEyMzQ1Njc=""#])
    func `a document with one recipient has the key beside it`(target: String) {
        let aps = #"{"event":"update","timestamp":1795262400,"content-state":{}}"#
        let job = json(#"{\#(target),"push_type":"liveactivity","apns_id":"\#(id)a","payload":{"aps":\#(aps)}}"#)
        #expect(job.summary.failure == nil && ids(job) == [id + "a"], "\(job.lines)")
    }

    @Test func `a document with many recipients does not have the key`() {
        let job = json(#"{"apns_id":"\#(id)a","tokens":["0A","0B"],"alert":"x"}"#)
        let line = "job:1:2: error: apns_id: is allowed here only with `token` or `channel`"
        #expect(job.lines == [line + "\nhint: give each of the `recipients` its own"])
        #expect(job.summary.failure == .invalid)
    }
}
