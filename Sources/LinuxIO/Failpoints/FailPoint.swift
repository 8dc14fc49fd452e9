#if FAILPOINTS
    import Glibc

    /// A file operation, identified by its number, and the action to take there.
    package struct FailPoint: Hashable, Sendable {
        /// The action to take instead of the operation, or before it.
        package enum Action: String, Hashable, Sendable {
            /// Kills the process before the operation (SIGKILL).
            case kill
            /// Stops the process before the operation (SIGSTOP). The operation runs once the process is continued.
            case stop
            /// The operation fails with EIO.
            case eio
            /// The operation fails with ENOSPC.
            case enospc
            /// The operation fails with EINVAL, as if the filesystem did not support it.
            case einval
        }

        /// The number of the operation, counted from 1.
        package let number: Int
        /// Whether it applies to all later operations too, but only to those that can fail for lack of space.
        package let isLasting: Bool
        /// The action.
        package let action: Action

        /// Parses `5:kill`, `7:eio` or `9+:enospc`; returns `nil` for other text.
        package init?(_ text: some StringProtocol) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let action = Action(rawValue: String(parts[1])) else { return nil }
            let isLasting = parts[0].last == "+"
            guard let number = Int(isLasting ? parts[0].dropLast() : parts[0]), number > 0 else { return nil }
            (self.number, self.isLasting, self.action) = (number, isLasting, action)
        }

        /// Parses a comma-separated list; returns `nil` if an element is invalid.
        package static func list(_ text: String) -> [FailPoint]? {
            let points = text.split(separator: ",").map { FailPoint($0) }
            return points.contains(nil) ? nil : points.compactMap(\.self)
        }

        func concerns(_ operation: FileOperation, number: Int) -> Bool {
            isLasting ? number >= self.number && operation.needsSpace : number == self.number
        }

        /// Takes the action.
        ///
        /// - Returns: the error code with which the operation fails (errno(3)); `nil` if it does not fail.
        func happen() -> Int32? {
            switch action {
            case .kill:
                kill(getpid(), SIGKILL)
                return nil
            case .stop:
                // Not kill(2): the kernel may give that signal to another thread, and this one goes on for a while.
                raise(SIGSTOP)
                return nil
            case .eio: return EIO
            case .einval: return EINVAL
            case .enospc: return ENOSPC
            }
        }
    }
#endif
