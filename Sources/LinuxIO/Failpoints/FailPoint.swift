#if FAILPOINTS
    import Glibc

    /// A file operation, by its number, and what becomes of it.
    package struct FailPoint: Hashable, Sendable {
        /// What happens instead of the operation, or before it.
        package enum Action: String, Hashable, Sendable {
            /// The process dies before the operation (SIGKILL).
            case kill
            /// The process stops before the operation (SIGSTOP), and does it when it is continued.
            case stop
            /// The operation fails with EIO.
            case eio
            /// The operation fails with ENOSPC.
            case enospc
            /// The operation fails with EINVAL, as one that the filesystem does not have.
            case einval
        }

        /// Which operation, counted from 1.
        package let number: Int
        /// Whether all later ones are meant too; then only those that can fail for lack of space.
        package let isLasting: Bool
        /// What happens.
        package let action: Action

        /// Reads `5:kill`, `7:eio` or `9+:enospc`; `nil` if it is none.
        package init?(_ text: some StringProtocol) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let action = Action(rawValue: String(parts[1])) else { return nil }
            let isLasting = parts[0].last == "+"
            guard let number = Int(isLasting ? parts[0].dropLast() : parts[0]), number > 0 else { return nil }
            (self.number, self.isLasting, self.action) = (number, isLasting, action)
        }

        /// Reads a list of them with commas between; `nil` if one is none.
        package static func list(_ text: String) -> [FailPoint]? {
            let points = text.split(separator: ",").map { FailPoint($0) }
            return points.contains(nil) ? nil : points.compactMap(\.self)
        }

        func concerns(_ operation: FileOperation, number: Int) -> Bool {
            isLasting ? number >= self.number && operation.needsSpace : number == self.number
        }

        func happen(at operation: FileOperation, _ subject: String) throws(SystemError) {
            switch action {
            case .kill: kill(getpid(), SIGKILL)
            case .stop: kill(getpid(), SIGSTOP)
            case .eio: throw SystemError(code: EIO, operation: operation.rawValue, subject: subject)
            case .einval: throw SystemError(code: EINVAL, operation: operation.rawValue, subject: subject)
            case .enospc: throw SystemError(code: ENOSPC, operation: operation.rawValue, subject: subject)
            }
        }
    }
#endif
