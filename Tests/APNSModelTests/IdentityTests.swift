import APNSModel
import TestSupport
import Testing

struct JobIDTests {
    @Test(arguments: [
        (UInt128(0), "00000000000000000000000000"), (.max, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
        (1, "00000000000000000000000001"), (0x1F << 5 | 0x11, "000000000000000000000000ZH"),
    ])
    func `an id has 26 characters`(bits: UInt128, text: String) {
        #expect(JobID(bits: bits).description == text && JobID(text)?.bits == bits)
    }

    @Test func `what is written is read again, in any case, and sorts as its bits do`() {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let a = JobID(bits: .random(in: 0 ... .max, using: &random))
            let b = JobID(bits: .random(in: 0 ... .max, using: &random))
            #expect(JobID(a.description) == a && JobID(a.description.lowercased()) == a, "seed \(seed)")
            #expect((a.bits < b.bits) == (a.description < b.description), "seed \(seed)")
        }
    }

    @Test(arguments: [
        "", "0000000000000000000000000", "000000000000000000000000000", "80000000000000000000000000",
        "0000000000000000000000000I", "0000000000000000000000000L", "0000000000000000000000000O",
        "0000000000000000000000000U", "0000000000000000000000000-", "ééééééééééééé",
    ])
    func `anything else is no id`(text: String) {
        #expect(JobID(text) == nil)
    }
}

struct NotificationIDTests {
    @Test func `an id is a UUID of version 8`() {
        let id = NotificationID(job: JobID(bits: .max), index: 0).description
        #expect(id == "ffffffff-ffff-8fff-bfff-ffffffffffff")
        #expect(NotificationID(job: JobID(bits: 0), index: 17).description == "00000000-0000-8000-8000-000000000011")
    }

    @Test func `two notifications of a job have two ids, and a resend has the same`() {
        for seed in UInt64(0)..<50 {
            var random = SeededGenerator(seed: seed)
            let job = JobID(bits: .random(in: 0 ... .max, using: &random))
            let ids = Set((0..<200).map { NotificationID(job: job, index: $0).bits })
            #expect(ids.count == 200, "seed \(seed)")
            #expect(ids.contains(NotificationID(job: job, index: 150).bits), "seed \(seed)")
        }
    }

    @Test func `the version and variant are there for every job and index`() {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let job = JobID(bits: .random(in: 0 ... .max, using: &random))
            let text = Array(NotificationID(job: job, index: .random(in: 0 ... .max, using: &random)).description)
            #expect(text.count == 36 && text[14] == "8" && "89ab".contains(text[19]), "seed \(seed)")
        }
    }
}
