import SpoolModel
import Testing

@Suite struct AppNameTests {
    @Test(arguments: [
        "weather", "sandbox:com.example.weather", "Ünï ☃", "天気", "a", "-x", "a.b", "100%", "it's \"quoted\"", "a\\b",
        String(repeating: "x", count: 200),
    ])
    func `what a folder can be called and a person can read is an app's name`(name: String) {
        #expect(AppName.isValid(name))
    }

    @Test(arguments: [
        "", ".", "..", ".hidden", "a/b", "a\nb", "a\u{0}", "a\u{7F}", "a\u{202E}b", "a\u{FFFD}", "lost+found",
        String(repeating: "x", count: 201), String(repeating: "ü", count: 101),
    ])
    func `anything else is none`(name: String) {
        #expect(!AppName.isValid(name))
    }

    @Test(arguments: [
        ("node-a", true), ("a", true), ("A.b_c", true), (String(repeating: "x", count: 64), true), ("", false),
        ("-a", false), (".a", false), ("a b", false), ("ü", false), ("public", false),
        (String(repeating: "x", count: 65), false),
    ])
    func `a node is called as hosts are`(name: String, isValid: Bool) {
        #expect(NodeName.isValid(name) == isValid)
    }
}
