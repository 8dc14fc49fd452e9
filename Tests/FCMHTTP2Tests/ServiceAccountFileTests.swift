import Document
import JSON
import Testing

@testable import FCMHTTP2

/// What is read of a service account's file, and what users are told who name another file.
struct ServiceAccountFileTests {
    private static let members = [
        "type": "service_account", "project_id": "demo-project", "private_key_id": "0123",
        "private_key": "-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----\\n",
        "client_email": "sender@demo-project.iam.gserviceaccount.com", "client_id": "1",
        "token_uri": "https://oauth2.googleapis.com/token", "universe_domain": "googleapis.com",
    ]

    private func text(_ change: (inout [String: String]) -> Void = { _ in }) -> String {
        var members = Self.members
        change(&members)
        return "{" + members.map { "\"\($0.key)\": \"\($0.value)\"" }.joined(separator: ",\n") + "}"
    }

    private func parse(_ text: String, allowsAnyHost: Bool = false) throws(Diagnostic) -> ServiceAccountFile {
        var parser = JSON.Parser()
        return try ServiceAccountFile(Array(text.utf8), allowsAnyHost: allowsAnyHost, parser: &parser)
    }

    private func fault(_ text: String) -> Diagnostic? {
        do throws(Diagnostic) {
            _ = try parse(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a file as Google issues it is read`() throws {
        let file = try parse(text())
        #expect(file.account.projectID == "demo-project" && file.account.privateKeyID == "0123")
        #expect(file.account.clientEmail == "sender@demo-project.iam.gserviceaccount.com")
        #expect(
            file.account.tokenURI.text == "https://oauth2.googleapis.com/token"
                && file.account.tokenURI.path == "/token")
        #expect(file.privateKey == Array("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8))
    }

    @Test(arguments: ["type", "project_id", "private_key", "client_email", "token_uri"])
    func `a member that is needed is missed by name`(name: String) {
        #expect(fault(text { $0[name] = nil })?.message == "`\(name)` is missing")
        #expect(fault(text { $0[name] = "" })?.message == "`\(name)` is empty")
    }

    @Test(arguments: [
        ("authorized_user", "a person's login, as gcloud stores it"),
        ("impersonated_service_account", "a person's right to act as a service account"),
        ("external_account", "workload identity, which can name URLs to ask and commands to run"),
        ("external_account_authorized_user", "a person's login at another identity provider"),
        ("gdch_service_account", "an account of Google Distributed Cloud"),
    ])
    func `credentials of another type are recognized`(type: String, meaning: String) {
        let fault = fault("{\"type\": \"\(type)\", \"client_id\": \"1\"}")
        #expect(
            fault?.message == "`type` is `\(type)`: \(meaning)" && fault?.hint?.contains("Firebase console") == true)
    }

    @Test(arguments: [
        (
            #"{"project_info": {"project_number": "1"}, "client": []}"#,
            "google-services.json, which belongs into the Android app"
        ),
        (
            #"<?xml version="1.0"?><plist version="1.0"><dict/></plist>"#,
            "a property list such as GoogleService-Info.plist, which belongs into the iOS app"
        ),
        (#"{"installed": {"client_id": "1"}}"#, "the secret of an OAuth client, with which people log in"),
        ("\n-----BEGIN PRIVATE KEY-----\n", "PEM text"),
    ])
    func `another file is recognized`(text: String, name: String) {
        let fault = fault(text)
        #expect(fault?.message == "the file is \(name), not a service account's JSON file")
        #expect(fault?.hint?.contains("Generate new private key") == true)
    }

    @Test(arguments: [
        ("", "the file is not JSON: "), ("[1]", "the file holds an array, not an object"),
        ("{\"type\": 1}", "`type` is a number, not a string"),
        ("{\"type\": \"robot\"}", "`type` is `robot`, not `service_account`"),
    ])
    func `what is no object of text is told`(text: String, message: String) {
        #expect(fault(text)?.message.hasPrefix(message) == true && fault(text)?.hint != nil)
    }

    @Test(arguments: [
        ("http://oauth2.googleapis.com/token", "does not begin with https://"),
        ("https://evil.example/token", "is not at oauth2.googleapis.com"),
        ("https://oauth2.googleapis.com.evil.example/token", "is not at oauth2.googleapis.com"),
        ("https://oauth2.googleapis.com:8443/token", "is not at oauth2.googleapis.com"),
        ("https://oauth2.googleapis.com@evil.example/", "is not a URL of host, port and path"),
        ("https://oauth2.googleapis.com/a b", "is not a URL of host, port and path"), ("https://", "is not a URL"),
    ])
    func `an assertion goes nowhere but to Google`(uri: String, words: String) {
        let fault = fault(text { $0["token_uri"] = uri })
        #expect(fault?.message.hasPrefix("`token_uri` `\(uri)` \(words)") == true && fault?.hint != nil)
    }

    @Test func `an app that names the endpoint itself may have any host in the file`() throws {
        let file = text { $0["token_uri"] = "https://localhost:8444/token?a=1" }
        let uri = try parse(file, allowsAnyHost: true).account.tokenURI
        #expect((uri.host, uri.port, uri.path) == ("localhost", 8444, "/token?a=1"))
        #expect(fault(text { $0["token_uri"] = "http://localhost/" })?.message.contains("https://") == true)
    }

    @Test(arguments: [
        ("demo-project", true), ("1234567890", true), ("example.com:demo", true), ("a/b", false), ("", false),
    ])
    func `a project's id or number can stand in a path`(text: String, isProject: Bool) {
        #expect(ServiceAccount.isProject(text) == isProject)
    }

    @Test func `a file tells nothing of its key`() throws {
        var dumped = ""
        dump(try parse(text()), to: &dumped)
        #expect(!dumped.contains("privateKey:") && dumped.contains("demo-project"))
    }
}
