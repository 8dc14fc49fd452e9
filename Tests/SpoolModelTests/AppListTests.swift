import APNSModel
import Document
import JSON
import PushModel
import SpoolModel
import Testing

@Suite struct AppListTests {
    private static var list: AppList {
        var list = AppList(node: "host-a", limits: DocumentLimits(byteCount: 4096, lineByteCount: 1024, depth: 9))
        list.mark = 4_294_967_295
        for (index, carrier) in Carrier.allCases.enumerated() {
            var app = AppList.App(name: "app\(index)", carrier: carrier)
            app.isSandbox = index % 2 == 0
            if index > 0 { app.topic = "com.example.app\(index)" }
            if index > 1 { app.identity = .certificate(topics: (2..<index).map { "com.example.app\($0)" }) }
            if index > 2 { app.onDoubt = .report }
            app.toleratesUnknownFields = carrier == .fcm
            list.apps.append(app)
        }
        if let id = ChannelID("bWF0Y2gtNy0xMjM0NTY="), let other = ChannelID("dGlja2VyLTEyMzQ1Njc=") {
            list.apps[3].channels = ["match-7": BroadcastChannel(id: id), "t": .init(id: other, policy: .nothing)]
        }
        return list
    }

    private func read(_ text: String) throws -> AppList? {
        var parser = JSON.Parser()
        return AppList(try parser.parse(Array(text.utf8)).root)
    }

    @Test func `what is written is read again`() throws {
        #expect(try read(String(decoding: Self.list.json, as: UTF8.self)) == Self.list)
    }

    @Test func `it is one line of JSON with the members of the manual`() {
        var list = Self.list
        list.apps = [list.apps[3]]
        let text =
            #"{"v":1,"node":"host-a","mark":4294967295,"limits":{"document":4096,"line":1024,"nesting":9},"apps":[{"app":"app3","#
            + #""carrier":"http2","environment":"production","topic":"com.example.app3","credentials":"certificate","#
            + #""topics":["com.example.app2"],"on_doubt":"report","channels":[{"name":"match-7","#
            + #""id":"bWF0Y2gtNy0xMjM0NTY="},{"name":"t","id":"dGlja2VyLTEyMzQ1Njc=","policy":0}]}]}"# + "\n"
        #expect(String(decoding: list.json, as: UTF8.self) == text)
    }

    @Test(arguments: [("\"v\":1", "\"v\":2"), ("\"node\"", "\"nodes\""), ("\"limits\"", "\"limit\"")])
    func `a file of another version is not read`(old: String, new: String) throws {
        #expect(try read(String(decoding: Self.list.json, as: UTF8.self).replacing(old, with: new)) == nil)
    }

    @Test(arguments: ["\"http2\"", "\"certificate\"", "\"bWF0Y2gtNy0xMjM0NTY=\""])
    func `a list with an app that cannot be understood is not read`(word: String) throws {
        let text = String(decoding: Self.list.json, as: UTF8.self)
        #expect(try read(text.replacing(word, with: "\"?\"")) == nil)
    }
}
