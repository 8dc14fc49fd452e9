import DoorModel
import Testing

struct MethodCallReaderTests {
    @Test(arguments: [
        ("", #""""#), ("text", #""text""#), (" <string>x</string>\n", #""x""#), ("  ", #""  ""#),
        ("<string/>", #""""#), ("<string> a\n\"b\"\\\t&amp;&#13;é</string>", #"" a\n\"b\"\\\t&\ré""#),
        ("a<!-- c -->b<![CDATA[<c>]]>", #""ab<c>""#), ("\u{7F}\u{2028}😀", "\"\u{7F}\u{2028}😀\""),
        ("<i4>41</i4>", "41"), ("<int> -7\n</int>", "-7"), ("<int>+007</int>", "7"), ("<int>-0</int>", "0"),
        ("<i8>9223372036854775807</i8>", "9223372036854775807"), ("<int>3000000000</int>", "3000000000"),
        ("<boolean>1</boolean>", "true"), ("<boolean>0</boolean>", "false"), ("<nil/>", "null"),
        ("<nil> </nil>", "null"),
        ("<ex:nil/>", "null"), ("<double>1.50</double>", "1.50"), ("<double>-0.0</double>", "-0.0"),
        ("<double>1e+20</double>", "1e+20"), ("<double>+.5</double>", "0.5"), ("<double>007.</double>", "7.0"),
        ("<double>-5.0e-08</double>", "-5.0e-08"), ("<double>12</double>", "12"),
        ("<array><data/></array>", "[]"), ("<struct/>", "{}"), ("<struct>\n</struct>", "{}"),
        ("<array><data><value/><value><nil/></value><value>a</value></data></array>", #"["",null,"a"]"#),
        ("<struct><member><name/><value/></member></struct>", #"{"":""}"#),
        ("<struct><member><name>a\"b </name><value><nil/></value></member></struct>", #"{"a\"b ":null}"#),
        (
            "<struct><member><name>a</name><value><struct><member><name>a</name><value>1</value></member></struct></value>"
                + "</member><member><name>b</name><value><array><data><value><int>1</int></value></data></array></value>"
                + "</member></struct>", #"{"a":{"a":"1"},"b":[1]}"#
        ),
    ])
    func `a value becomes JSON`(value: String, json: String) throws {
        let call = try methodCall(xml(value))
        #expect(call.method == "m")
        #expect(String(decoding: call.parameters, as: UTF8.self) == "[\(json)]")
    }

    @Test(arguments: [
        ("<methodCall><methodName>a.b</methodName></methodCall>", "a.b", "[]"),
        ("<methodCall><methodName> a </methodName><params/></methodCall>", "a", "[]"),
        ("<methodCall x='1'>\n<methodName>a</methodName>\n<params>\n</params>\n</methodCall>", "a", "[]"),
    ])
    func `a call may have no parameters`(text: String, method: String, json: String) throws {
        let call = try methodCall(Array(text.utf8))
        #expect(call.method == method && call.parameters == Array(json.utf8))
    }

    @Test(arguments: [
        ("<methodcall/>", "line 1, column 1: XML-RPC has no element `methodcall`"),
        ("<methodResponse/>", "line 1, column 1: XML-RPC has no element `methodResponse`"),
        ("<value/>", "line 1, column 1: a call must be one `methodCall` (got `value`)"),
        ("<methodCall/>", "line 1, column 14: `methodCall` must have a `methodName`"),
        ("<methodCall><params/></methodCall>", "line 1, column 13: `params` cannot stand here in `methodCall`"),
        ("<methodCall><methodName/></methodCall>", "line 1, column 26: the name of the method is empty"),
        ("<methodCall>x</methodCall>", "line 1, column 13: text cannot stand in `methodCall`; remove it"),
        (
            "<methodCall><methodName>a<value/></methodName></methodCall>",
            "line 1, column 26: `value` cannot stand here in `methodName`"
        ),
        (
            "<methodCall><methodName>a</methodName><methodName>b</methodName></methodCall>",
            "line 1, column 39: `methodName` cannot stand here in `methodCall`"
        ),
        (
            "<methodCall><methodName>a</methodName>\n<params><param/></params></methodCall>",
            "line 2, column 17: `param` must have a `value`"
        ),
        (
            "<methodCall><methodName>a</methodName>\n<params/><params/></methodCall>",
            "line 2, column 10: `params` cannot stand here in `methodCall`"
        ),
        (
            "<methodCall><methodName>a</methodName>\n<params><param><value/><value/></param></params></methodCall>",
            "line 2, column 24: `value` cannot stand here in `param`"
        ),
    ])
    func `a call with another structure is refused at its place`(text: String, message: String) {
        let fault = fault(of: Array(text.utf8))
        #expect(fault?.text == message)
        #expect(fault?.code == -32600)
    }

    @Test(arguments: [
        ("<float>1</float>", "XML-RPC has no element `float`"), ("<value/>", "`value` cannot stand here in `value`"),
        ("<data/>", "`data` cannot stand here in `value`"),
        ("<int>1</int><int>2</int>", "`int` cannot stand here in `value`"),
        ("x<int>1</int>", "text cannot stand in `value` with a type; remove it"),
        ("<int>1</int>x", "text cannot stand in `value`; remove it"),
        ("<array/>", "`array` must have a `data`"), ("<array><value/></array>", "`value` cannot stand here in `array`"),
        ("<array><data/><data/></array>", "`data` cannot stand here in `array`"),
        ("<array><data>x</data></array>", "text cannot stand in `data`; remove it"),
        ("<array><data><int>1</int></data></array>", "`int` cannot stand here in `data`"),
        ("<struct><value/></struct>", "`value` cannot stand here in `struct`"),
        ("<struct><member/></struct>", "`member` must have a `name` and a `value`"),
        ("<struct><member><name>a</name></member></struct>", "`member` must have a `name` and a `value`"),
        ("<struct><member><value/><name>a</name></member></struct>", "`value` cannot stand here in `member`"),
        ("<nil>x</nil>", "text cannot stand in `nil`; remove it"),
        ("<string><b/></string>", "XML-RPC has no element `b`"),
        ("<string><int>1</int></string>", "`int` cannot stand here in `string`"),
        ("<int/>", "`int` must be a whole number of at most 64 bits (got ``)"),
        ("<int>1.0</int>", "`int` must be a whole number of at most 64 bits (got `1.0`)"),
        ("<int>1 2</int>", "`int` must be a whole number of at most 64 bits (got `1 2`)"),
        ("<i8>9223372036854775808</i8>", "`i8` must be a whole number of at most 64 bits (got `9223372036854775808`)"),
        ("<boolean>true</boolean>", "`boolean` must be 0 or 1 (got `true`)"),
    ])
    func `a value with another structure is refused`(value: String, message: String) {
        let fault = fault(of: xml(value))
        #expect(fault?.text.hasSuffix(": " + message) == true, "\(fault?.text ?? "accepted")")
        #expect(fault?.code == -32600)
    }

    @Test(arguments: ["", "inf", "-INF", "nan", ".inf", ".NaN", "1,5", "0x1F", "0o7", "1e", "--1", "true", "~", "1e5x"])
    func `a double that JSON cannot represent is refused`(text: String) {
        let fault = fault(of: xml("<double>\(text)</double>"))
        #expect(fault?.text.hasSuffix("`double` must be a finite decimal number (got `\(text)`)") == true)
    }

    @Test func `two members of one name are refused, though not in different structs`() {
        let member = "<member><name>a</name><value/></member>"
        let fault = fault(of: xml("<struct>\(member)\(member)</struct>"))
        #expect(fault?.text.hasSuffix("a `struct` has the member `a` twice; remove one") == true)
    }

    @Test(arguments: [
        ("dateTime.iso8601", "20261127T03:30:00", "send the time as a string or a number"),
        ("base64", "YWI=", "send text, such as a PEM certificate, as a string"),
    ])
    func `a type that JSON does not have is refused with the remedy`(type: String, text: String, remedy: String) {
        let fault = fault(of: xml("<\(type)>\(text)</\(type)>"))
        #expect(fault?.code == -32602)
        #expect(fault?.text.hasSuffix("JSON has no `\(type)`; \(remedy)") == true)
    }

    @Test(arguments: [
        ("<array><data><value>", "</value></data></array>"),
        ("<struct><member><name/><value>", "</value></member></struct>"),
    ])
    func `values may be nested to the limit and not one deeper`(opening: String, closing: String) throws {
        func nested(_ depth: Int) -> [UInt8] {
            xml(String(repeating: opening, count: depth) + "<int>1</int>" + String(repeating: closing, count: depth))
        }
        _ = try methodCall(nested(15))
        let fault = fault(of: nested(16))
        #expect(fault?.text.hasSuffix("the parameters are nested deeper than 16 levels; flatten them") == true)
        #expect(fault?.code == -32600)
    }

    @Test func `XML that is not well-formed has its own code`() {
        let fault = fault(of: Array("<methodCall>\n<methodName></b>".utf8))
        #expect(fault?.code == -32700)
        let remedy = "close elements in reverse order, by the same name"
        #expect(fault?.text == "line 2, column 15: the end tag does not match the start tag; \(remedy)")
    }

    @Test func `ends and calls that no parser reports are refused too`() {
        var reader = MethodCallReader(depth: 4)
        #expect(throws: MethodFault.self) { try reader.end() }
        #expect(throws: MethodFault.self) { try reader.append(text: [0x78]) }
        #expect(throws: MethodFault.self) { try MethodCallReader(depth: 4).finish() }
        #expect(throws: MethodFault.self) {
            var reader = MethodCallReader(depth: 4)
            for name in ["methodCall", "methodName"] { try reader.begin(name) }
            try reader.append(text: [0x61])
            for _ in 0..<2 { try reader.end() }
            try reader.begin("methodCall")
        }
    }
}
