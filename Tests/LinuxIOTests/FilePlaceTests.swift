import LinuxIO
import Testing

@Suite struct FilePlaceTests {
    @Test(arguments: [
        ("file", ".", "file"), ("/file", "/", "file"), ("folder/file", "folder", "file"),
        ("/a/b/file", "/a/b", "file"), ("folder/", "folder", ""), ("/", "/", ""), ("", ".", ""),
        ("ä/\u{301}file", "ä", "\u{301}file"),
    ])
    func `a path is split at its last slash`(path: String, directory: String, name: String) {
        let place = FilePlace(path)
        #expect(place.directory == directory)
        #expect(place.name == name)
        #expect(place.nameBytes == Array(name.utf8))
    }
}
