import Document
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

    @Test func `the schema of jobs has every key that the program knows, each with a description, and no other`() throws
    {
        let schema = try #require(
            try JSONSerialization.jsonObject(with: Data(JSONSchema.job.document)) as? [String: Any])
        let definitions = try #require(schema["$defs"] as? [String: [String: Any]])
        var shown: [String: [String: Any]] = [:]
        for name in ["APNsJob", "FCMJob", "APNsRecipient", "FCMRecipient"] {
            shown.merge(try #require(definitions[name]?["properties"] as? [String: [String: Any]])) { $1 }
        }
        let spellings: Set = ["androidV2", "fcmOptions"]
        #expect(Set(shown.keys).subtracting(spellings) == Set(JobKey.allCases.map(\.rawValue)))
        #expect(spellings.isSubset(of: shown.keys) && shown.values.allSatisfy { $0["description"] != nil })
    }

    @Test func `every definition that the schema of jobs refers to is there`() throws {
        let text = String(decoding: JSONSchema.job.document, as: UTF8.self)
        let names = text.matches(of: #/"#\/\$defs\/(\w+)"/#).map { String($0.output.1) }
        #expect(names.count > 10)
        for name in Set(names) { #expect(text.contains("\"\(name)\":{"), "\(name)") }
    }
}
