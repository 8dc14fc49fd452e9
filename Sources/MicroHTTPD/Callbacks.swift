import CMicroHTTPD
import Glibc

private func server(_ pointer: UnsafeMutableRawPointer?) -> HTTPServer? {
    unsafe pointer.map { unsafe Unmanaged<HTTPServer>.fromOpaque($0).takeUnretainedValue() }
}

private func request(_ pointer: UnsafeMutableRawPointer?) -> HTTPRequest? {
    unsafe pointer.map { unsafe Unmanaged<HTTPRequest>.fromOpaque($0).takeUnretainedValue() }
}

/// Called for the target of a request, before it is taken apart.
func takeTarget(
    _ owner: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    if let server = unsafe server(owner), let target = unsafe target, let connection = unsafe connection {
        unsafe server.targetCame(String(cString: target), on: connection)
    }
    return nil
}

/// Called for the head of a request, for each part of its body, and once it has arrived completely.
func takeRequest(
    _ owner: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ bytes: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let server = unsafe server(owner), let connection = unsafe connection, let count = unsafe count,
        let state = unsafe state, let path = unsafe path, let method = unsafe method, let version = unsafe version
    else { return .NO }
    guard let request = unsafe request(state.pointee) else {
        let request = unsafe server.requestBegins(
            connection, RequestHead(connection, method: method, version: version, path: String(cString: path)))
        unsafe state.pointee = Unmanaged.passRetained(request).toOpaque()
        guard server.mustAnswerEarly(request), let response = request.response else { return .YES }
        return server.queue(response, for: request)
    }
    guard unsafe count.pointee > 0, let bytes = unsafe bytes else { return server.requestIsWhole(request) }
    let length = unsafe count.pointee
    unsafe bytes.withMemoryRebound(to: UInt8.self, capacity: length) {
        unsafe server.bodyCame(UnsafeBufferPointer(start: $0, count: length), for: request)
    }
    unsafe count.pointee = 0
    // An answer cannot be queued here: a client that sends on and on is cut off.
    return server.isTooLong(request) ? .NO : .YES
}

/// Called when a request has ended, however that was.
func endRequest(
    _ owner: UnsafeMutableRawPointer?, _: OpaquePointer?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ cause: MHD_RequestTerminationCode
) {
    guard let server = unsafe server(owner), let state = unsafe state, let pointer = unsafe state.pointee else {
        return
    }
    let request = unsafe Unmanaged<HTTPRequest>.fromOpaque(pointer).takeRetainedValue()
    unsafe state.pointee = nil
    server.requestEnds(request, isDelivered: cause == cmicrohttpd_delivered)
}

/// Called when a connection has begun, and when it has ended.
func changeConnection(
    _ owner: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
    guard let server = unsafe server(owner), let connection = unsafe connection, let context = unsafe context else {
        return
    }
    if change == cmicrohttpd_started {
        unsafe context.pointee = server.connectionBegins(connection)
    } else {
        unsafe server.connectionEnds(connection)
        unsafe context.pointee = nil
    }
}

/// Called for the next bytes of an answer's body.
func readBody(
    _ owner: UnsafeMutableRawPointer?, _: UInt64, _ target: UnsafeMutablePointer<CChar>?, _ room: Int
) -> Int {
    guard let request = unsafe request(owner), let target = unsafe target else { return -2 }
    return unsafe target.withMemoryRebound(to: UInt8.self, capacity: room) {
        unsafe request.server.read(request, into: UnsafeMutableBufferPointer(start: $0, count: room))
    }
}

/// Called when an answer's body is not needed any more.
func forgetBody(_ owner: UnsafeMutableRawPointer?) {
    if let owner = unsafe owner { unsafe Unmanaged<HTTPRequest>.fromOpaque(owner).release() }
}

extension RequestHead {
    /// Reads the fields and the query of the request that has just arrived.
    fileprivate init(
        _ connection: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>, path: String
    ) {
        let lineEnd = unsafe version.end
        unsafe self.init(method: String(cString: method), version: String(cString: version), path: path)
        unsafe (start, versionStart, end) = (method.address, version.address, lineEnd)
        byteCount = unsafe cmicrohttpd_head_size(connection)
        unsafe withUnsafeMutablePointer(to: &self) {
            unsafe _ = MHD_get_connection_values(connection, .HEADER_KIND, takeField, $0)
            unsafe _ = MHD_get_connection_values(connection, .GET_ARGUMENT_KIND, takeField, $0)
        }
    }
}

private func takeField(
    _ owner: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
) -> MHD_Result {
    guard let head = unsafe owner?.assumingMemoryBound(to: RequestHead.self), let name = unsafe name else {
        return .YES
    }
    let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
    if kind == .GET_ARGUMENT_KIND {
        unsafe head.pointee.query[String(cString: name)] = text
    } else {
        let place = unsafe (name.address, name.end, value?.address ?? 0, value?.end ?? 0)
        unsafe head.pointee.append(String(cString: name), text, at: place)
    }
    return .YES
}

extension UnsafePointer<CChar> {
    fileprivate var address: Int { Int(bitPattern: self) }

    /// The address behind the last character.
    fileprivate var end: Int { unsafe address + strlen(self) }
}
