import Document
import Foundation
import GatewaySimulator
import LinuxIO
import PushDaemon
import TestSupport
import Testing

@testable import AppEngine
@testable import JobOperations

struct ExampleTests {
    @Test(arguments: try Manual.readmeExamples() + Manual.pageExamples())
    func `an example of a job does what the manual says`(_ example: Manual.Example) throws {
        let folder = try TemporaryDirectory()
        try folder.directory.put(example.fileName, example.text)
        let verdict = try JobCheck(for: example.carrier).read(folder.path + "/" + example.fileName)
        let isGood = verdict.isSendable && verdict.rejectedCount == 0
        #expect(isGood != example.isWrong, "\(verdict.diagnostics)")
    }

    @Test func `README and manual have examples of every form, and the manual one that is wrong`() throws {
        for examples in [try Manual.readmeExamples(), try Manual.pageExamples()] {
            #expect(Set(examples.map { $0.fileName.split(separator: ".").last }) == ["json", "yaml", "jsonl"])
        }
        #expect(try Manual.pageExamples().contains { $0.isWrong })
    }

    @Test(arguments: try Manual.pages())
    func `a reader can copy the examples of a page: man shows bare quotes and dashes as other characters`(page: String)
        throws
    {
        var isExample = false
        for (index, line) in try Manual.text("etc/man/" + page).split(separator: "\n").enumerated() {
            if line == ".nf" || line == ".fi" { isExample = line == ".nf" }
            guard isExample, !line.hasPrefix(".\\\"") else { continue }
            let bare = line.replacing(#"\-"#, with: "").filter { "'`-".contains($0) }
            #expect(bare.isEmpty, "line \(index + 1): \(line)")
        }
    }

    @Test func `no two examples have one id, so that each can be tried after the other`() throws {
        let examples = try Manual.readmeExamples() + Manual.pageExamples().filter { !$0.isWrong }
        let ids = examples.compactMap {
            $0.text.firstMatch(of: #/\bid\W{1,2} \W?([\w-]+)/#).map { String($0.output.1) }
        }
        #expect(ids.count >= 4 && Set(ids).count == ids.count, "\(ids)")
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

    @Test func `the rules of misbehaviour in pushspool(1) can be read`() throws {
        let page = try Manual.page("pushspool.1").components(separatedBy: "\n.SH SIMULATOR\n")
        let section = try #require(page.dropFirst().first).components(separatedBy: "\n.SH ")[0]
        let blocks = section.components(separatedBy: "\n.nf\n").dropFirst()
        #expect(!blocks.isEmpty)
        for block in blocks {
            let rules = block.components(separatedBy: "\n.fi")[0] + "\n"
            #expect(try !FaultScript(rules).isEmpty)
        }
    }
}
