"""Looks at a picture of a report: whether anything is on it, and in the colours that are to be there.

usage: report-look.py PICTURE.png LIGHTEST DARKEST    (how bright the ground may be, 0 to 255)
"""

import collections
import pathlib
import struct
import sys
import zlib


def pixels(data: bytes) -> tuple[int, list[bytes]]:
    """The bytes a pixel and the rows of a PNG with 8 bits a channel, as browsers write it."""
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    if depth != 8 or kind not in (2, 6) or interlaced:
        sys.exit("the picture is in a form that this does not read")
    packed, place = b"", 8
    while place < len(data):
        length, name = struct.unpack(">I4s", data[place : place + 8])
        if name == b"IDAT":
            packed += data[place + 8 : place + 8 + length]
        place += length + 12
    size = 3 if kind == 2 else 4
    raw, rows, before = zlib.decompress(packed), [], bytes(width * size)
    for number in range(height):
        start = number * (width * size + 1)
        before = unfiltered(raw[start], raw[start + 1 : start + 1 + width * size], before, size)
        rows.append(before)
    return size, rows


def unfiltered(kind: int, line: bytes, before: bytes, size: int) -> bytes:
    """Undoes what a PNG does to a row so that it packs well."""
    row = bytearray(line)
    for place in range(len(row)):
        left = row[place - size] if place >= size else 0
        above, corner = before[place], before[place - size] if place >= size else 0
        if kind == 4:
            guess = left + above - corner
            near = min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))
            row[place] = (row[place] + near[2]) & 255
        elif kind:
            row[place] = (row[place] + (left, above, (left + above) // 2)[kind - 1]) & 255
    return bytes(row)


def main() -> None:
    """Says what is on the picture, and whether that is enough."""
    size, rows = pixels(pathlib.Path(sys.argv[1]).read_bytes())
    colours = collections.Counter(
        tuple(row[place : place + 3]) for row in rows[::2] for place in range(0, len(row), 2 * size)
    )
    total = sum(colours.values())
    ground, count = colours.most_common(1)[0]
    bright = sum(ground) // 3
    blue = sum(number for (red, green, tint), number in colours.items() if tint > red + 60 and tint > green + 30)
    is_drawn = count < 0.97 * total and len(colours) > 40 and blue > 0.002 * total
    is_good = is_drawn and int(sys.argv[3]) <= bright <= int(sys.argv[2])
    found = f"ground {ground} on {count / total:.0%}, {len(colours)} colours, blue on {blue / total:.2%}"
    print("good:" if is_good else "blank, or in the wrong light:", found)


main()
