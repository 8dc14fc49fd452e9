import Document
import JSON
import Testing
import YAML

@Suite struct FieldsTests {
    private enum Level: String, CaseIterable {
        case info
        case debug
    }

    private static func fields(yaml text: String) throws -> Fields {
        var parser = YAML.Parser()
        return Fields(try parser.parse(Array(text.utf8)).root)
    }

    private static func fields(json text: String) throws -> Fields {
        var parser = JSON.Parser()
        return Fields(try parser.parse(Array(text.utf8)).root)
    }

    private static func lines(_ report: Report) -> [String] { report.inOrder.map { $0.rendered(file: "f") } }

    @Test func `fields are read by their types`() throws {
        var fields = try Self.fields(yaml: "a: no\nb: true\nc: 0x1F\nd: debug\ne: 15s\nf: 64MiB\ng: [x, 1]\nh: ~\n")
        #expect(fields.string("a") == "no" && fields.boolean("b") == true && fields.integer("c", in: 0...40) == 31)
        #expect(fields.choice("d", of: Level.self) == .debug && fields.strings("g") == ["x", "1"])
        #expect(fields.duration("e", in: .zero ... .seconds(60)) == .seconds(15))
        #expect(fields.byteCount("f", in: 0...(1 << 30)) == 64 << 20 && fields.string("h") == nil)
        #expect(fields.finish().errorCount == 0)
    }

    @Test func `JSON keeps its own types`() throws {
        var fields = try Self.fields(json: #"{"a":1,"b":"true","c":"3","d":1.0,"e":null}"#)
        #expect(fields.string("a") == nil && fields.boolean("b") == nil && fields.string("e") == nil)
        #expect(fields.integer("c", in: 0...9) == nil && fields.integer("d", in: 0...9) == nil)
        #expect(
            Self.lines(fields.finish()) == [
                "f:1:6: error: a: expected a string, found a number",
                "f:1:12: error: b: expected true or false, found a string",
                "f:1:23: error: c: expected a whole number, found a string",
                "f:1:31: error: d: expected a whole number, found a number",
            ])
    }

    @Test func `faults name the field the place and the remedy`() throws {
        var fields = try Self.fields(yaml: "level: dbug\nwait: 15\nsize: 99\nlist:\n  - {tokn: 1}\n")
        #expect(fields.choice("level", of: Level.self) == nil)
        #expect(fields.duration("wait", in: .zero ... .seconds(60)) == nil)
        #expect(fields.byteCount("size", in: 0...10) == nil)
        _ = fields.mappings("list") { $0.string("token") }
        fields.require("spool")
        let lines = Self.lines(fields.finish())
        #expect(lines.count == 5 && lines[0] == "f:1:1: error: spool: is missing")
        #expect(lines[1] == "f:1:8: error: level: must be `info` or `debug` (got `dbug`)\nhint: did you mean `debug`?")
        #expect(lines[2].hasPrefix("f:2:7: error: wait: the unit is missing\nhint: write a whole number"))
        #expect(lines[3] == "f:3:7: error: size: 99 is out of range\nhint: use a value from 0 to 10")
        #expect(lines[4] == "f:5:6: error: list[0]: the key `tokn` is unknown\nhint: did you mean `token`?")
    }

    @Test func `a document that is no mapping is one fault`() throws {
        var fields = try Self.fields(json: "[1]")
        #expect(fields.string("a") == nil)
        #expect(Self.lines(fields.finish()) == ["f:1:1: error: expected an object, found an array"])
    }

    @Test func `nested mappings keep their paths`() throws {
        var fields = try Self.fields(yaml: "journal: {size: x, syn: 1}\n")
        let size = fields.mapping("journal") { inner in
            inner.allow("sync")
            return inner.integer("size", in: 0...9)
        }
        #expect(size == .some(nil))
        let report = fields.finish()
        #expect(report.inOrder.map(\.path) == ["journal.size", "journal"])
    }
}
