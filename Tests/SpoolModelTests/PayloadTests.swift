import APNSModel
import Document
import JobFormat
import PushModel
import SpoolModel
import Testing

struct PayloadTests {
    @Test func `a JSON payload goes out as it was written, without its white space`() {
        let job = json(
            """
            {"token": "0A", "payload": { "z": 1.0, "aps" : {"alert": "\\u00e9 \\/ é", "badge": 0},
              "big": 18446744073709551615, "e": 1E400, "a": [ ], "n": null, "t": "a  b" } }
            """)
        #expect(
            job.payloads == [
                #"{"z":1.0,"aps":{"alert":"\u00e9 \/ é","badge":0},"big":18446744073709551615,"e":1E400,"a":[],"n":null,"t":"a  b"}"#
            ])
    }

    @Test func `a YAML payload becomes JSON by the core schema, keys in the user's order`() {
        let job = yaml(
            """
            token: 0A
            payload:
              z: 1.0
              aps: {badge: 0, alert: "Żółw 🐢"}
              no: no
              hex: 0x1F
              big: 9223372036854775807
              text: |
                two
                lines
              nothing: ~
            """)
        #expect(
            job.payloads == [
                #"{"z":1.0,"aps":{"badge":0,"alert":"Żółw 🐢"},"no":"no","hex":31,"big":9223372036854775807,"text":"two\nlines\n","nothing":null}"#
            ])
    }

    @Test func `a number that JSON cannot say is a fault at its place`() {
        let job = yaml("token: 0A\npayload:\n  aps: {alert: x}\n  ratio: .nan\n")
        #expect(job.summary.failure == .invalid)
        #expect(job.lines.first?.hasPrefix("job:4:10: error: payload: JSON cannot represent `.nan`") == true)
    }

    @Test func `shorthands make the payload that their names say`() {
        let job = json(
            """
            {"token": "0A", "alert": {"title": "T", "body": "B", "loc-args": ["x"]}, "badge": 0, "sound": "default",
             "category": "c", "thread_id": "t", "content_available": true, "mutable_content": 1,
             "interruption_level": "passive", "custom": {"order": 1.0, "acme": {"b": 1, "a": null}}}
            """)
        #expect(
            job.payloads == [
                #"{"aps":{"alert":{"title":"T","body":"B","loc-args":["x"]},"badge":0,"sound":"default","thread-id":"t","#
                    + #""category":"c","content-available":1,"mutable-content":1,"interruption-level":"passive"},"#
                    + #""order":1.0,"acme":{"b":1,"a":null}}"#
            ])
        #expect(job.lines.isEmpty)
    }

    @Test(arguments: [
        (#""badge": 0"#, #"{"aps":{"badge":0}}"#), (#""alert": """#, #"{"aps":{"alert":""}}"#),
        (#""alert": "x", "badge": null, "sound": null"#, #"{"aps":{"alert":"x"}}"#),
        (#""alert": "x", "content_available": false"#, #"{"aps":{"alert":"x"}}"#),
        (#""alert": "x", "custom": {}"#, #"{"aps":{"alert":"x"}}"#),
        (#""content_available": 1"#, #"{"aps":{"content-available":1}}"#),
        (#""push_type": "voip", "custom": {"call": 7}"#, #"{"call":7}"#),
        (#""push_type": "mdm", "payload": {"mdm": "magic"}"#, #"{"mdm":"magic"}"#),
        (#""payload": {"aps": {"badge": "increment"}}"#, #"{"aps":{"badge":"increment"}}"#),
        (#""payload": "{\"aps\": {\"alert\": \"\u00e4\"}, \"n\": 1.0}""#, #"{"aps":{"alert":"ä"},"n":1.0}"#),
    ])
    func `nulls and false are left out, zero and empty text are not`(members: String, payload: String) {
        let job = json("{\"token\":\"0A\",\(members)}")
        #expect(job.payloads == [payload] && job.lines.isEmpty)
    }

    @Test func `a payload of text that is no JSON is a fault at its place`() {
        let job = json(#"{"token":"0A","payload":"Hi"}"#)
        #expect(job.summary.failure == .invalid && job.lines.count == 1)
        let start = "job:1:25: error: payload: expected an object, or JSON text: "
        #expect(job.lines[0].hasPrefix(start), "\(job.lines)")
    }

    @Test func `a recipient's false takes away what the job has`() {
        let job = json(
            #"{"alert":"x","content_available":true,"recipients":[{"token":"0A"},{"token":"0B","content_available":false}]}"#
        )
        #expect(job.payloads == [#"{"aps":{"alert":"x","content-available":1}}"#, #"{"aps":{"alert":"x"}}"#])
    }

    @Test func `a YAML scalar is read by its shorthand's type`() {
        let job = yaml("token: 12345678\nalert: 5\nbadge: 0x10\nsound: no\ncontent_available: True\n")
        #expect(job.payloads == [#"{"aps":{"alert":"5","badge":16,"sound":"no","content-available":1}}"#])
        #expect(job.sent.map(\.token) == ["12345678"])
    }

    @Test(arguments: [
        (#""custom": {"aps": 1}"#, "custom: must not contain `aps`"),
        (#""custom": {"mdm": 1}"#, "custom: must not contain `mdm`"),
        (#""custom": []"#, "custom: expected an object, found an array"),
        (#""alert": 1"#, "alert: expected a string or an object, found a number"),
        (#""badge": -1"#, "badge: expected a whole number, 0 or greater, found a number"),
        (#""badge": 1.0"#, "badge: expected a whole number, 0 or greater, found a number"),
        (#""content_available": "yes""#, "content_available: expected true or false, found a string"),
        (#""payload": []"#, "payload: expected an object, found an array"),
        (#""badge": "increment""#, "badge: expected a whole number, 0 or greater, found a string"),
        (#""payload": "[1]""#, "payload: expected an object, found an array"),
        (#""payload": "{\"aps\": 1}""#, "payload.aps: expected an object, found a number"),
        (#""payload": {"aps": 1}"#, "payload.aps: expected an object, found a number"),
        (
            #""payload": {"aps": {"event": "begin"}}"#,
            "payload.aps.event: expected `start`, `update` or `end`, found a string"
        ),
        (
            #""payload": {"aps": {"url-args": [[]]}}"#,
            "payload.aps.url-args: expected an array of strings, found an array"
        ),
        (#""payload": {"aps": {"alert": 1}}"#, "payload.aps.alert: expected a string or an object, found a number"),
        (
            #""payload": {"aps": {"badge": {}}}"#,
            "payload.aps.badge: expected a whole number, 0 or greater, found an object"
        ),
        (#""payload": {"aps": null}"#, "payload: a push of type alert needs `aps`"),
        (#""payload": {"x": 1}"#, "payload: a push of type alert needs `aps`"),
        (#""custom": {"x": 1}"#, "a push of type alert needs `aps`"),
        (#""payload": {"aps": {}}, "badge": 1"#, "badge: `payload` and `badge` cannot be combined"),
    ])
    func `a payload that Apple would not understand is a fault`(members: String, message: String) {
        let job = json("{\"token\":\"0A\",\(members)}")
        #expect(job.summary.failure == .invalid && job.lines.count == 1)
        let found = job.diagnostics.first
        #expect([found?.path, found?.message].compactMap(\.self).joined(separator: ": ") == message)
    }

    @Test(arguments: [
        (
            #"{"aps":{"alert":"x","badge":null}}"#,
            "payload.aps.badge: expected a whole number, 0 or greater, found null"
        ),
        (
            #"{"aps":{"alert":"x","badge":"3"}}"#,
            "payload.aps.badge: expected a whole number, 0 or greater, found a string"
        ),
        (
            #"{"aps":{"alert":"x","badge":true}}"#,
            "payload.aps.badge: expected a whole number, 0 or greater, found true"
        ),
        (
            #"{"aps":{"alert":"x","content-available":true}}"#,
            "payload.aps.content-available: expected the number 1, found true"
        ),
        (
            #"{"aps":{"alert":"x","mutable-content":"1"}}"#,
            "payload.aps.mutable-content: expected the number 1, found a string"
        ),
        (#"{"aps":{"alert":null,"badge":1}}"#, "payload.aps.alert: expected a string or an object, found null"),
        (
            #"{"aps":{"alert":{"body":"x","title":null}}}"#,
            "payload.aps.alert.title: expected a string or an object with loc-key, found null"
        ),
        (
            #"{"aps":{"alert":{"body":1}}}"#,
            "payload.aps.alert.body: expected a string or an object with loc-key, found a number"
        ),
        (#"{"aps":{"sound":{"critical":true}}}"#, "payload.aps.sound.critical: expected the number 1, found true"),
        (#"{"aps":{"url-args":[1]}}"#, "payload.aps.url-args: expected an array of strings, found an array"),
    ])
    func `a value that the gateway takes though devices may not read it is a warning, and sent as it is`(
        payload: String, message: String
    ) {
        let job = json("{\"token\":\"0A\",\"payload\":\(payload)}")
        #expect(job.summary.failure == nil && job.payloads == [payload] && job.lines.count == 1)
        let found = job.diagnostics.first
        #expect([found?.path, found?.message].compactMap(\.self).joined(separator: ": ") == message)
        #expect(found?.severity == .warning)
    }

    @Test(arguments: ["true", "\"1\"", "1", "1.0"])
    func `devices read each of these as yes`(yes: String) {
        let job = json(#"{"token":"0A","payload":{"aps":{"content-available":\#(yes)}}}"#)
        #expect(job.sent.first?.attributes?.pushType == .background && job.summary.failure == nil)
    }

    @Test(arguments: ["null", "0", "false", "\"0\""])
    func `devices read each of these as no`(no: String) {
        let text = #"{"token":"0A","push_type":"background","payload":{"aps":{"content-available":\#(no)}}}"#
        #expect(json(text).diagnostics.contains { $0.message == "a background push needs content-available 1" })
    }

    @Test func `where Apple wants a string, any plain scalar of YAML is one`() {
        let text = """
            token: 0A
            payload:
              aps:
                alert: {title: 1984, body: true, loc-args: [1, 2.50, x], subtitle: 0x10}
                sound: {critical: 1, name: 7}
                thread-id: 12
                badge: 3
              year: 1984
            """
        let payload =
            #"{"aps":{"alert":{"title":"1984","body":"true","loc-args":["1","2.50","x"],"subtitle":"0x10"},"#
            + #""sound":{"critical":1,"name":"7"},"thread-id":"12","badge":3},"year":1984}"#
        #expect(yaml(text).lines == [] && yaml(text).payloads == [payload])
        let shorthand = yaml("token: 0A\nalert: {title: 1984, body: .inf}\nsound: 7\n")
        #expect(shorthand.lines == [])
        #expect(shorthand.payloads == [#"{"aps":{"alert":{"title":"1984","body":".inf"},"sound":"7"}}"#])
        #expect(
            yaml("token: 0A\nalert: {title: ~, body: x}\n").payloads == [
                #"{"aps":{"alert":{"title":null,"body":"x"}}}"#
            ])
    }

    @Test(arguments: ["timestamp", "stale-date", "dismissal-date"])
    func `a time in milliseconds is a warning`(key: String) {
        let rest = #""event":"end","content-state":{}\#(key == "timestamp" ? "" : #","timestamp":1795000000"#)"#
        func lines(_ number: String) -> [String] {
            let aps = #"{\#(rest),"\#(key)":\#(number)}"#
            return json(#"{"token":"0A","push_type":"liveactivity","payload":{"aps":\#(aps)}}"#).lines
        }
        #expect(lines("1795000000") == [] && lines("1795000000.5") == [])
        let words = "warning: payload.aps.\(key): is after the year 5138, because Apple counts seconds since 1970"
        for number in ["1795000000123", "1795000000123.5", "1.795e12", "1795000000123456789"] {
            #expect(lines(number).count == 1 && lines(number)[0].contains(words), "\(number)")
        }
        #expect(lines("1795000000123")[0].hasSuffix("\nhint: write 1795000000"))
    }

    @Test(arguments: [
        (
            #"{"aps":{"alert":"x","message":"y"}}"#, "payload.aps: Apple does not document a key `message` here",
            "use `alert` for the text to show"
        ),
        (
            #"{"aps":{"alert":"x","bagde":1}}"#, "payload.aps: Apple does not document a key `bagde` here",
            "did you mean `badge`?"
        ),
        (
            #"{"aps":{"alert":{"boddy":"x"}}}"#, "payload.aps.alert: Apple does not document a key `boddy` here",
            "did you mean `body`?"
        ),
        (
            #"{"aps":{"alert":{"title_loc_key":"x"}}}"#,
            "payload.aps.alert: Apple does not document a key `title_loc_key` here", "did you mean `title-loc-key`?"
        ),
        (
            #"{"aps":{"alert":"x","interruption-level":"loud"}}"#,
            "payload.aps.interruption-level: unknown level `loud`",
            "use one of passive, active, time-sensitive, critical"
        ),
        (
            #"{"aps":{"sound":"x","mutable-content":1}}"#,
            "payload: `mutable-content` without `alert` does not run the app's extension", "add `alert`"
        ),
    ])
    func `what Apple does not document is a warning`(payload: String, message: String, hint: String) {
        let job = json("{\"token\":\"0A\",\"payload\":\(payload)}")
        #expect(job.summary.failure == nil && job.payloads == [payload] && job.lines.count == 1)
        let found = job.diagnostics.first
        #expect([found?.path, found?.message].compactMap(\.self).joined(separator: ": ") == message)
        #expect(found?.hint == hint && found?.severity == .warning)
    }

    @Test(arguments: [
        "title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key", "launch-image", "action-loc-key",
        "action",
    ])
    func `every key of the alert that clients knew is taken`(key: String) {
        let job = json("{\"token\":\"0A\",\"alert\":{\"\(key)\":\"x\"}}")
        #expect(job.lines.isEmpty && job.payloads == ["{\"aps\":{\"alert\":{\"\(key)\":\"x\"}}}"])
    }
}
