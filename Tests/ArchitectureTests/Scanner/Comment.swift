/// A comment on one line; a comment in `/* */` is one of these for each line it covers.
struct Comment: Equatable {
    /// Whether it begins with `///`.
    let isDocumentation: Bool
    /// Whether nothing but space stands before it on its line.
    let standsAlone: Bool
    /// The text after the slashes, without the space before it.
    let text: String
}
