/// A client that does to a relay what no client should: a program for Python, without a library for HTTP/2.
///
/// Its arguments are the port, the file of the authority, what to do, and how often. It prints what came of it: `open`, `closed`
/// or `reset`, and the frames that the relay sent on its own.
enum HostileClient {
    static let program = #"""
        import socket, ssl, sys, time

        port, authority, act, count = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
        context = ssl.create_default_context(cafile=authority)
        context.set_alpn_protocols(["h2"])


        def frame(kind, flags, stream, body=b""):
            return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


        def field(name, value):
            return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


        head = b"".join(
            field(name, value)
            for name, value in [
                (b":method", b"POST"), (b":scheme", b"https"), (b":path", b"/3/device/" + b"ab" * 32),
                (b":authority", b"localhost"), (b"apns-topic", b"com.example.weather"),
            ]
        )


        def connect():
            plain = socket.create_connection(("127.0.0.1", port), timeout=30)
            wrapped = context.wrap_socket(plain, server_hostname="localhost")
            wrapped.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0))
            return wrapped


        def fate(connection, limit):
            """What becomes of a connection, at the latest after a time in seconds."""
            connection.settimeout(limit)
            kinds = set()
            rest = b""
            try:
                while True:
                    data = connection.recv(65536)
                    if not data:
                        return "closed", kinds
                    rest += data
                    while len(rest) >= 9:
                        size = int.from_bytes(rest[:3], "big")
                        if len(rest) < 9 + size:
                            break
                        kinds.add(rest[3])
                        rest = rest[9 + size:]
            except (TimeoutError, socket.timeout):
                return "open", kinds
            except OSError:
                return "reset", kinds


        def send(connection, data):
            """Sends until the other side has enough. Returns whether it has."""
            try:
                connection.sendall(data)
                return False
            except (TimeoutError, socket.timeout, OSError):
                return True


        def idle():
            connections = []
            for _ in range(count):
                try:
                    connections.append(connect())
                except OSError:
                    pass
            print("connected %d" % len(connections), flush=True)
            return fate(connections[-1], 40)


        def bad():
            """A bad request now and then on each connection, and a byte of a handshake on others."""
            connections = []
            for number in range(count):
                try:
                    connections.append((connect(), time.monotonic()))
                except OSError:
                    pass
            print("connected %d" % len(connections), flush=True)
            stream = 1
            while connections:
                for entry in list(connections):
                    connection, since = entry
                    ended = send(connection, frame(1, 5, stream, head))
                    connection.setblocking(False)
                    try:
                        while True:
                            if not connection.recv(65536):
                                ended = True
                                break
                    except (BlockingIOError, ssl.SSLWantReadError):
                        pass
                    except OSError:
                        ended = True
                    connection.settimeout(30)
                    if ended:
                        connections.remove(entry)
                    elif time.monotonic() - since > 60:
                        return "open", set()
                stream += 2
                time.sleep(1)
            return "closed", set()


        def half():
            connection = connect()
            connection.sendall(frame(1, 4, 1, head) + frame(0, 0, 1, b"{"))
            return fate(connection, 40)


        def halves():
            """Many requests whose bodies never end."""
            connection = connect()
            for number in range(count):
                data = frame(1, 4, 2 * number + 1, head) + frame(0, 0, 2 * number + 1, b"x" * 4000)
                if send(connection, data):
                    break
            return fate(connection, 40)


        def resets():
            connection = connect()
            for number in range(count):
                stream = 2 * number + 1
                if send(connection, frame(1, 4, stream, head) + frame(3, 0, stream, (8).to_bytes(4, "big"))):
                    break
            return fate(connection, 40)


        def pings():
            connection = connect()
            connection.settimeout(5)
            for _ in range(count):
                if send(connection, frame(6, 0, 0, b"12345678") * 100):
                    break
            return fate(connection, 40)


        def settings():
            connection = connect()
            connection.settimeout(5)
            for _ in range(count):
                if send(connection, frame(4, 0, 0, b"\x00\x04\x00\x00\x40\x00") * 100):
                    break
            return fate(connection, 40)


        def continuations():
            connection = connect()
            connection.sendall(frame(1, 0, 1, head))
            for _ in range(count):
                if send(connection, frame(9, 0, 1, field(b"x", b"y" * 100) * 100)):
                    break
            return fate(connection, 40)


        def unread():
            """Requests whose answers are never read."""
            connection = connect()
            connection.settimeout(5)
            for number in range(count):
                if send(connection, frame(1, 5, 2 * number + 1, head)):
                    break
            time.sleep(20)
            return fate(connection, 40)


        def junk():
            connection = connect()
            send(connection, b"\xff" * 100000)
            return fate(connection, 40)


        end, kinds = {
            "bad": bad, "idle": idle, "half": half, "halves": halves, "resets": resets, "pings": pings, "settings": settings,
            "continuations": continuations, "unread": unread, "junk": junk,
        }[act]()
        print(end, "frames", sorted(kinds), flush=True)
        """#
}
