import HTTP2
import Testing

@testable import FCMServing

/// How the head of a request is read.
struct SendHeadTests {
    private func head(_ changed: (String, String?)...) -> SendHead {
        var values = [
            ":method": "POST", ":path": "/v1/projects/weather/messages:send", "authorization": "Bearer abc",
            "content-type": "application/json",
        ]
        for (name, value) in changed { values[name] = value }
        var fields = HeaderFields()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            fields.append(name: Array(name.utf8).span, value: Array(value.utf8).span)
        }
        return SendHead(fields)
    }

    @Test(arguments: [
        ("/v1/projects/weather/messages:send", "weather"),
        ("/v1/projects/4711/messages:send?prettyPrint=false", "4711"),
        ("/v1/projects//messages:send", nil), ("/v1/projects/a/b/messages:send", nil), ("/fcm/send", nil),
        ("/v1/projects/messages:send", nil), ("/v1/projects/weather/messages", nil),
    ])
    func `the path names a project`(path: String, project: String?) {
        #expect(head((":path", path)).project == project)
    }

    @Test func `another method has no such path`() {
        #expect(head((":method", "GET")).project == nil)
    }

    @Test(arguments: [("Bearer abc", "abc"), ("bearer a b", "a b"), ("Bearer ", nil), ("Basic abc", nil), (nil, nil)])
    func `the access token follows its scheme`(value: String?, token: String?) {
        #expect(head(("authorization", value)).accessToken.map { String(decoding: $0, as: UTF8.self) } == token)
    }

    @Test(arguments: [
        ("prettyPrint=false", false, nil), ("prettyPrint=true&$.xgafv=2", true, nil),
        (
            "pretty=1", true,
            #"Invalid JSON payload received. Unknown name "pretty": Cannot bind query parameter. Field 'pretty' could not be found in request message."#
        ),
    ])
    func `the query is read strictly`(query: String, isIndented: Bool, fault: String?) {
        let head = head((":path", "/v1/projects/weather/messages:send?" + query))
        #expect(head.isIndented == isIndented && head.fault?.message == fault)
    }

    @Test(arguments: [
        ("application/json", 0), ("application/json; charset=utf-8", 0), ("application/json; UTF-8", 0),
        ("text/plain", 1), (nil, 1),
    ])
    func `another content type is an oddity`(type: String?, count: Int) {
        #expect(head(("content-type", type)).oddities.count == count)
    }
}
