"""Ends TLS for one connection, passes the plaintext on to another port, and writes down what passed either way.

usage: recorder.py PORT NEXT_PORT CERT KEY FILE

FILE is a hex dump as text2pcap(1) reads it, each piece behind `O` (from the client) or `I` (to it). Ends when either side
has closed.
"""

import asyncio
import ssl
import sys


class Recorder:
    def __init__(self, next_port: int, path: str) -> None:
        self.next_port = next_port
        self.file = open(path, "w", encoding="ascii")  # noqa: SIM115
        self.is_over = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self.next_port)
        passing = [
            asyncio.create_task(self.relay("O", reader, other_writer)),
            asyncio.create_task(self.relay("I", other_reader, writer)),
        ]
        await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        writer.close()
        other_writer.close()
        self.file.close()
        self.is_over.set()

    async def relay(self, direction: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(1400):
            self.write_down(direction, piece)
            writer.write(piece)
            await writer.drain()

    def write_down(self, direction: str, piece: bytes) -> None:
        print(direction, file=self.file)
        for offset in range(0, len(piece), 16):
            print(f"{offset:06x} {piece[offset:offset + 16].hex(' ')}", file=self.file)


async def main() -> None:
    port, next_port, certificate, key, path = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2"])
    recorder = Recorder(int(next_port), path)
    server = await asyncio.start_server(recorder.serve, "127.0.0.1", int(port), ssl=context)
    print("listening", flush=True)
    await recorder.is_over.wait()
    server.close()


asyncio.run(main())
