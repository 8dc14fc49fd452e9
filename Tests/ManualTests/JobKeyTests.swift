import Foundation
import Testing

@testable import JobFormat
@testable import SpoolModel

/// The keys of job files: pushspool-job(5) and the program know the same ones.
struct JobKeyTests {
    @Test func `pushspool-job(5) has every key that the program knows, and no other`() throws {
        let page = try Manual.page("pushspool-job.5")
        var told: Set<String> = []
        for entry in page.components(separatedBy: "\n.TP\n.BR ").dropFirst() {
            // `.BR name ", " name ": type"`: the names are bold, outside the quotation marks.
            let head = entry.prefix { $0 != "\n" }.split(separator: "\"", omittingEmptySubsequences: false)
            for index in stride(from: 0, to: head.count, by: 2) {
                told.formUnion(head[index].split(separator: " ").map(String.init))
            }
        }
        let known = Set(JobKey.allCases.map(\.rawValue))
        #expect(known.subtracting(told) == [])
        #expect(told.subtracting(known) == [])
    }
}
