import Testing

struct LexerTests {
    private func words(_ text: String) -> [String] {
        Lexer(text).tokens.map(\.text)
    }

    @Test func `words and symbols come with their lines`() {
        let tokens = Lexer("let a\n  = b->c").tokens
        #expect(tokens.map(\.text) == ["let", "a", "=", "b", "->", "c"])
        #expect(tokens.map(\.line) == [1, 1, 2, 2, 2, 2])
    }

    @Test(arguments: [
        ##"x("} // { \" try!") y"##, ##"x(#"} " \( "#) y"##, ###"x(##"} "# "##) y"###,
        "x(\"\"\"\n} \" \"\" {\n\"\"\") y",
        "x(\"\"\"\n \\\"\"\" {\n\"\"\") y",
    ])
    func `the content of a string is no code`(text: String) {
        let tokens = Lexer(text).tokens
        #expect(tokens.filter { $0.kind != .string }.map(\.text) == ["x", "(", ")", "y"])
    }

    @Test(arguments: [
        ##""a \(f("b \(c) {", d)) e""##, ##"#"a \(no) \#(f("b \(c) {", d)) e"#"##,
        "\"\"\"\na \\(f(\"b \\(c) {\", d))\n\"\"\"",
    ])
    func `the code in an interpolation is code`(text: String) {
        let code = Lexer(text).tokens.filter { $0.kind != .string }.map(\.text)
        #expect(code == ["f", "(", "c", ",", "d", ")"])
    }

    @Test func `an unclosed string ends with its line`() {
        #expect(words("a \"open\nb") == ["a", "open", "b"])
    }

    @Test func `comments are kept by line and nest`() {
        let lexer = Lexer("/// doc {\na // tail {\n/* one\n /* two { */\n */ b")
        #expect(lexer.tokens.map(\.text) == ["a", "b"])
        #expect(lexer.comments[1] == Comment(isDocumentation: true, standsAlone: true, text: "doc {"))
        #expect(lexer.comments[2] == Comment(isDocumentation: false, standsAlone: false, text: "tail {"))
        #expect(lexer.comments.keys.sorted() == [1, 2, 3, 4, 5])
    }

    @Test func `a name in backticks is one word whatever it holds`() {
        let tokens = Lexer("func `a \"b\" { c`() {}").tokens
        #expect(tokens[1].kind == .quotedWord)
        #expect(tokens[1].text == "a \"b\" { c")
        #expect(Brackets(tokens).unbalancedLine == nil)
    }

    @Test(arguments: [("f {\n(]\n}", 2), ("f {", 1), ("}\n", 1), ("a {\n{\n}", 1)])
    func `a bracket without a partner is reported with its line`(text: String, line: Int) {
        #expect(Brackets(Lexer(text).tokens).unbalancedLine == line)
    }

    @Test func `no prefix of a file traps the scanner`() {
        let text =
            ##"/// d\#n@Test(a: [1]) package func f<T>(a: "b\(c { d }) e", `g h`: #"i"#) throws -> T { /* j */ }"##
        for count in 0...text.count {
            let file = SourceFile.source("struct S: P { " + text.prefix(count))
            #expect(Budgets.findings(in: file).count <= 1, "\(count) characters")
        }
    }
}
