import Document
import Foundation
import GatewaySimulator
import LinuxIO
import PushDaemon
import TestSupport
import Testing

struct ExampleTests {
    @Test(arguments: try Manual.readmeExamples() + Manual.pageExamples())
    func `an example of a job does what the manual says`(_ example: Manual.Example) throws {
        let folder = try TemporaryDirectory()
        try folder.directory.put(example.fileName, example.text)
        let verdict = try JobCheck(for: nil).read(folder.path + "/" + example.fileName)
        let isGood = verdict.isSendable && verdict.rejectedCount == 0
        #expect(isGood != example.isWrong, "\(verdict.diagnostics)")
    }

    @Test func `the manual has examples of every form, and one that is wrong`() throws {
        for examples in [try Manual.readmeExamples(), try Manual.pageExamples()] {
            #expect(Set(examples.map { $0.fileName.split(separator: ".").last }) == ["json", "yaml", "jsonl"])
            #expect(examples.contains { $0.isWrong })
        }
    }

    @Test func `the sample jobs of the spool are good, but for the two that are meant to be wrong`() throws {
        let path = Manual.root.appending(path: "spool/weather/hold").path
        let names = try Directory.open(path: path).sortedNames().filter { !$0.hasPrefix(".") }
        var bad: [String] = []
        for name in names {
            let verdict = try JobCheck(for: nil).read(path + "/" + name)
            if !verdict.isSendable || verdict.rejectedCount > 0 { bad.append(name) }
        }
        #expect(names.count >= 8)
        #expect(bad == ["broken.yaml", "half-bad.yaml"])
    }

    @Test func `the rules of misbehaviour in the README can be read`() throws {
        let rules = try Manual.fences("README.md").filter { $0.words == "fault" }
        #expect(!rules.isEmpty)
        for rule in rules { #expect(try !FaultScript(rule.text).isEmpty) }
    }
}
