"""The undoing of a compression that nobody asked for, in small steps: a few bytes may stand for gigabytes.

Source: RFC 9110, section 8.4.1 (gzip and x-gzip are the same; deflate is zlib's format, which some hosts leave bare).
"""

import asyncio
import zlib
from collections.abc import AsyncGenerator

LARGEST_COMPRESSED = 64 * 1024 * 1024
"""Bytes of a compressed body as they come: a body may unpack to nothing at all and go on without end."""

STEP = 64 * 1024
"""The most bytes that are handed on at once."""

_LARGEST_REST = 64 * 1024


class CompressionError(Exception):
    """A body that cannot be unpacked; the text follows the name of the host."""


async def unpacked(pieces: AsyncGenerator[bytes, None], coding: str) -> AsyncGenerator[bytes, None]:
    """Yield a body unpacked, at most `STEP` bytes at a time. Other tasks run between the steps.

    Args:
        pieces: The body as it comes; closed in the end.
        coding: What the header `Content-Encoding` says.

    Raises:
        CompressionError: The bytes are not what the header says, are too many, or the coding is none that is known.
    """
    name = coding.strip().lower()
    if name not in ("gzip", "x-gzip", "deflate"):
        raise CompressionError(f"sent an answer in a compression that was not asked for ({name[:40]})")
    unpacker = None
    taken = rest = 0
    try:
        async for piece in pieces:
            if not piece:
                continue
            unpacker = unpacker or zlib.decompressobj(_window_bits(name, piece[0]))
            if unpacker.eof:  # what follows is read a little way, so that the connection can be used again
                rest += len(piece)
                if rest > _LARGEST_REST:
                    return
                continue
            taken += len(piece)
            if taken > LARGEST_COMPRESSED:
                raise CompressionError(f"sent a compressed answer of more than {LARGEST_COMPRESSED} bytes")
            waiting, is_full = piece, False
            while (waiting or is_full) and not unpacker.eof:
                part = unpacker.decompress(waiting, STEP)
                waiting, is_full = unpacker.unconsumed_tail, len(part) == STEP
                if part:
                    yield part
                await asyncio.sleep(0)
    except zlib.error:
        raise CompressionError("sent an answer whose compression is broken") from None
    finally:
        await pieces.aclose()


def _window_bits(name: str, first: int) -> int:
    """Return zlib's word for a format. A zlib header's first byte ends in 8 (RFC 1950, section 2.2)."""
    if name != "deflate":
        return 16 + zlib.MAX_WBITS
    return zlib.MAX_WBITS if first & 0x0F == 8 else -zlib.MAX_WBITS
