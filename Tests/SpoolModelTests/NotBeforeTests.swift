import Document
import JobFormat
import PushModel
import SpoolModel
import Testing

/// Jobs that are not to be sent before a time, and what counts from it.
struct NotBeforeTests {
    private let six = WallTime(epochSeconds: 1_795_327_200)

    @Test(arguments: [
        (#""2026-11-22T06:00:00Z""#, WallTime(epochSeconds: 1_795_327_200)),
        (#""2026-11-22T07:00:00.250+01:00""#, WallTime(epochSeconds: 1_795_327_200) + .milliseconds(250)),
        ("1795327200", WallTime(epochSeconds: 1_795_327_200)), (#""+2h""#, noon + .seconds(7_200)),
        (#""+90""#, noon + .seconds(90)), (#""+250ms""#, noon + .milliseconds(250)),
        (#""2020-01-01T00:00:00Z""#, WallTime(epochSeconds: 1_577_836_800)),
    ])
    func `all spellings of a time are read, those with a plus from the drop`(text: String, time: WallTime) {
        let job = json(#"{"token":"0A","alert":"x","not_before":\#(text)}"#)
        #expect(job.lines.isEmpty && job.summary.failure == nil && job.summary.header.notBefore == time)
    }

    @Test func `the first line of a file of lines may say it, and YAML`() {
        let head = #"{"job":{"not_before":"2026-11-22T06:00:00Z"},"defaults":{"alert":"x"}}"#
        #expect(lines(head + "\n\"0A\"\n").summary.header.notBefore == six)
        #expect(yaml("token: 0A\nalert: x\nnot_before: 2026-11-22T06:00:00Z\n").summary.header.notBefore == six)
        #expect(yaml("token: 0A\nalert: x\nnot_before: +1h\n").summary.header.notBefore == noon + .seconds(3600))
    }

    @Test(arguments: [#""give_up_after":"4h","not_before":"+2d""#, #""not_before":"+2d","give_up_after":"4h""#])
    func `the time for a job that waits begins when it may be sent`(keys: String) {
        let job = json(#"{"token":"0A","alert":"x",\#(keys)}"#)
        let end = noon + .seconds(2 * 86_400 + 4 * 3_600)
        #expect(job.summary.header.giveUpAt == end.unset && job.chunks[0].batches.map(\.giveUpAt) == [end.unset])
        let standard = json(#"{"token":"0A","alert":"x","not_before":"+2d"}"#).summary.header
        #expect(standard.giveUpAt == (noon + .seconds(3 * 86_400)).unset)
        let past = json(#"{"token":"0A","alert":"x","not_before":"2020-01-01T00:00:00Z"}"#).summary.header
        #expect(past.giveUpAt == (noon + .seconds(86_400)).unset)
    }

    @Test func `so does the time in which what says nothing may be delivered`() {
        let job = json(#"{"token":"0A","alert":"x","not_before":"+40d"}"#)
        #expect(job.lines.isEmpty)
        #expect(job.sent.map { $0.attributes?.expiration.epochSeconds } == [noon.epochSeconds + 70 * 86_400])
    }

    @Test func `an expiration counts from the drop, and may be that there is one attempt`() {
        let job = json(#"{"token":"0A","alert":"x","not_before":"+2h","expiration":"+3h"}"#)
        #expect(job.sent.map { $0.attributes?.expiration.epochSeconds } == [noon.epochSeconds + 10_800])
        let single = json(#"{"token":"0A","alert":"x","not_before":"+2h","expiration":0}"#)
        #expect(single.lines.isEmpty && single.sent.map(\.attributes?.expiration) == [Expiration.singleAttempt])
    }

    @Test(arguments: ["+1h", "+2h"])
    func `an expiration that has passed by then fails the job`(expiration: String) {
        let job = json(#"{"token":"0A","alert":"x","not_before":"+2h","expiration":"\#(expiration)"}"#)
        let time = (noon + .seconds(7_200)).rfc3339
        #expect(job.summary.failure == .invalid)
        #expect(
            job.lines == [
                "job:1:59: error: expiration: is earlier than the job's start time, \(time)"
                    + "\nhint: set a later expiration (with +, it counts from the drop) or an earlier not_before"
            ])
    }

    @Test func `a recipient's own that has passed by then rejects that one`() {
        let job = json(
            #"{"alert":"x","not_before":"+2h","recipients":[{"token":"0A","expiration":"+1h"},{"token":"0B"}]}"#)
        #expect(job.summary.failure == nil && job.summary.rejectedCount == 1)
        #expect(job.sent.map(\.reason) == ["BadExpirationDate", nil])
        #expect(job.lines.count == 1 && job.lines[0].contains("recipients[0].expiration: is earlier than"))
    }
}
