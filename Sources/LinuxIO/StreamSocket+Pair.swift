import CLinux

extension StreamSocket {
    /// Returns two sockets connected to each other (socketpair(2), AF_UNIX), for tests and self-contained demonstrations.
    ///
    /// - Throws: `SystemError`: no descriptor left.
    package static func makePair(on reactor: Reactor) throws(SystemError) -> (StreamSocket, StreamSocket) {
        var numbers: [Int32] = [-1, -1]
        guard unsafe clinux_stream_pair(&numbers) == 0 else { throw .last("socketpair") }
        let one = Descriptor(adopting: numbers[0])
        let other = Descriptor(adopting: numbers[1])
        return (try StreamSocket(adopting: one, on: reactor), try StreamSocket(adopting: other, on: reactor))
    }
}
