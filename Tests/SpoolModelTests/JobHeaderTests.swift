import Document
import JobFormat
import PushModel
import SpoolModel
import Testing

struct JobHeaderTests {
    @Test func `every key about the job is read`() {
        let job = yaml(
            """
            token: 0A
            alert: x
            id: campaign-17
            count: 1
            strict: true
            record: all
            on_doubt: report
            give_up_after: 4h
            lane: normal
            """)
        let header = job.summary.header
        #expect(job.lines.isEmpty && header.ref == "campaign-17" && header.count == 1 && header.isStrict)
        #expect(
            header.record == .all && header.onDoubt == .report && header.giveUpAt == (noon + .seconds(14_400)).unset)
        #expect(job.sent.map(\.onDoubt) == [.report])
    }

    @Test(arguments: [
        ("id", "\"\"", "job:1:35: error: id: must have 1 to 255 bytes (got 0)"),
        ("id", "{}", "job:1:35: error: id: expected a string, found an object"),
        ("count", "-1", "job:1:38: error: count: expected a whole number, found a number"),
        ("count", "1.0", "job:1:38: error: count: expected a whole number, found a number"),
        ("strict", #""yes""#, "job:1:39: error: strict: expected true or false, found a string"),
        ("record", #""none""#, "job:1:39: error: record: expected `failures` or `all`, found a string"),
        ("on_doubt", "1", "job:1:41: error: on_doubt: expected `resend` or `report`, found a number"),
        (
            "give_up_after", #""4""#,
            "job:1:46: error: give_up_after: the unit is missing\nhint: write a whole number with one of the units ms, s, m, h and d, such as 250ms, 15s or 30d"
        ),
        ("lane", #""fast""#, "job:1:37: error: lane: expected `urgent` or `normal` or `bulk`, found a string"),
        (
            "not_before", #""tomorrow""#,
            "job:1:43: error: not_before: `tomorrow` is not a valid time\nhint: write a time such as 2026-11-22T06:00:00Z, epoch seconds, +3600 or +1h"
        ),
        ("not_before", "{}", "job:1:43: error: not_before: expected a time, found an object"),
        (
            "not_before", "0",
            "job:1:43: error: not_before: epoch second 0 is before 2001\nhint: write \"+0\" for seconds from now"
        ),
        (
            "registered_at", "5",
            "job:1:30: error: the key `registered_at` is not allowed here\nhint: set it for single recipients, in `recipients`"
        ),
        (
            "apns_id", "[]",
            "job:1:40: error: apns_id: is not a UUID\nhint: write a UUID such as 123e4567-e89b-12d3-a456-42665544000a, or omit it"
        ),
        ("expirationn", "5", "job:1:30: error: the key `expirationn` is unknown\nhint: did you mean `expiration`?"),
        ("aps", "{}", "job:1:30: error: the key `aps` is unknown\nhint: put the whole message under `payload`"),
    ])
    func `a bad value fails the job and names its place`(key: String, value: String, line: String) {
        let job = json("{\"token\":\"0A\",\"alert\" : \"x\", \"\(key)\":\(value)}")
        #expect(job.lines == [line] && job.summary.failure == .invalid)
    }

    @Test(arguments: [
        "id", "count", "strict", "record", "on_doubt", "give_up_after", "not_before", "lane", "priority", "badge",
    ])
    func `a null says nothing`(key: String) {
        let job = json("{\"token\":\"0A\",\"alert\":\"x\",\"\(key)\":null}")
        #expect(job.lines.isEmpty && job.sent == json(#"{"token":"0A","alert":"x"}"#).sent)
    }
}

struct ExpirationTextTests {
    @Test(arguments: [
        ("+3600", noon.epochSeconds + 3600), ("+1h", noon.epochSeconds + 3600), ("+30d", noon.epochSeconds + 2_592_000),
        ("+0", noon.epochSeconds), ("0", 0), ("now", 0), ("1795327200", 1_795_327_200), ("1000000000", 1_000_000_000),
        ("2026-11-22T06:00:00Z", 1_795_327_200), ("4294967295", 4_294_967_295),
    ])
    func `all spellings of a time are read`(text: String, seconds: Int64) throws {
        #expect(try ExpirationText.parse(text, droppedAt: noon).epochSeconds == seconds)
    }

    @Test(arguments: [
        ("3600", "epoch second 3600 is before 2001"), ("999999999", "epoch second 999999999 is before 2001"),
        ("4294967296", "is after 2106-02-07, the last supported day"),
        ("1795327200000", "is after 2106-02-07, the last supported day"),
        ("99999999999999999999", "is after 2106-02-07, the last supported day"),
        ("+99999999999d", "the number is too large"),
        ("+900000000000", "is after 2106-02-07, the last supported day"),
        ("-1", "`-1` is not a valid time"), ("", "`` is not a valid time"),
        ("tomorrow", "`tomorrow` is not a valid time"),
        ("1h", "`1h` is not a valid time"),
        ("1990-01-01T00:00:00Z", "is before 2001"), ("+", "`` does not start with a number"),
    ])
    func `anything else is a fault`(text: String, message: String) {
        #expect {
            try ExpirationText.parse(text, droppedAt: noon)
        } throws: { error in
            (error as? TextFault)?.message == message
        }
    }

    @Test func `a number that was meant to be relative gets a hint`() {
        let job = json(#"{"token":"0A","alert":"x","expiration":3600}"#)
        #expect(
            job.lines == [
                #"job:1:40: error: expiration: epoch second 3600 is before 2001"#
                    + "\nhint: write \"+3600\" for seconds from now"
            ])
    }

    @Test func `in YAML a plus makes an integer relative`() {
        let job = yaml("token: 0A\nalert: x\nexpiration: +3600\n")
        #expect(job.sent[0].attributes?.expiration.epochSeconds == noon.epochSeconds + 3600)
    }

    @Test(arguments: [
        ("urgent-storm.json", Lane.urgent), ("bulk-.yaml", .bulk), ("normal-x.json", .normal), ("urgent.json", .normal),
        ("Urgent-x.json", .normal), ("x-urgent-y.json", .normal),
    ])
    func `a name asks for a lane by its beginning`(file: String, lane: Lane) {
        #expect(name(file).lane == lane)
    }

    @Test func `a job is in the lane that its file asks for, or else its name`() {
        var urgent = context()
        urgent.lane = .urgent
        let (named, said) = (
            json(#"{"token":"0A","alert":"x"}"#, urgent),
            lines("{\"job\":{\"lane\":\"bulk\"},\"defaults\":{\"alert\":\"x\"}}\n\"0A\"\n", urgent)
        )
        #expect(named.summary.header.lane == .urgent && said.summary.header.lane == .bulk)
        #expect([named, said].map { $0.chunks.flatMap(\.batches).map(\.lane) } == [[.urgent], [.bulk]])
        #expect(json(#"{"token":"0A","alert":"x"}"#).summary.header.lane == .normal)
    }
}
