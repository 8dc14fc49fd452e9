/// Which jobs go first. None but the normal lane is supported yet: who asks for another is refused, and not misled.
package enum Lane: String, CaseIterable, Hashable, Sendable {
    /// Before all others.
    case urgent
    /// As dropped.
    case normal
    /// After all others.
    case bulk
}
