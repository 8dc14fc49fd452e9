import PushModel
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

    @Test func `an id's characters are its digits in base 32, behind what is there`() {
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let bits = UInt128.random(in: 0 ... .max, using: &random) >> UInt128.random(in: 0...127, using: &random)
            let digits = String(bits, radix: 32).compactMap { Int(String($0), radix: 32) }.map { alphabet[$0] }
            let text = String(repeating: "0", count: 26 - digits.count) + String(digits)
            let id = JobID(bits: bits)
            #expect(id.description == text && spelled(id.append) == "before " + text, "seed \(seed)")
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

    @Test func `an id is spelled as its bits are, behind what is there`() {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let bits = UInt128.random(in: 0 ... .max, using: &random) >> UInt128.random(in: 0...127, using: &random)
            let id = NotificationID(job: JobID(bits: bits), index: .random(in: 0 ... .max, using: &random))
            let digits = String(id.bits, radix: 16)
            var text = Array(String(repeating: "0", count: 32 - digits.count) + digits)
            for place in [20, 16, 12, 8] { text.insert("-", at: place) }
            #expect(id.description == String(text) && spelled(id.append) == "before " + String(text), "seed \(seed)")
        }
    }

    @Test func `every printed id is read again, in either case`() throws {
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            let job = JobID(bits: .random(in: 0 ... .max, using: &random))
            let id = NotificationID(job: job, index: .random(in: 0 ... .max, using: &random))
            #expect(NotificationID(Array(id.description.utf8).span) == id, "seed \(seed)")
            #expect(NotificationID(Array(id.description.uppercased().utf8).span) == id, "seed \(seed)")
        }
        let mixed = Array("123e4567-e89b-12d3-a456-42665544000A".utf8)
        #expect(NotificationID(mixed.span)?.bits == 0x123e_4567_e89b_12d3_a456_4266_5544_000a)
    }

    @Test(arguments: [
        "", "123e4567e89b12d3a45642665544000a", "123e4567-e89b-12d3-a456-42665544000",
        "123e4567-e89b-12d3-a456-42665544000a0", "123e4567-e89b-12d3-a456_42665544000a",
        "123e456-7e89b-12d3-a456-42665544000a", "123e4567-e89b-12d3-a456-42665544000g",
        "{23e4567-e89b-12d3-a456-42665544000}",
    ])
    func `anything but a UUID is not read`(text: String) {
        #expect(NotificationID(Array(text.utf8).span) == nil)
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

/// What `append` makes of an array that has something in it.
func spelled(_ append: (inout [UInt8]) -> Void) -> String {
    var bytes = Array("before ".utf8)
    append(&bytes)
    return String(decoding: bytes, as: UTF8.self)
}
