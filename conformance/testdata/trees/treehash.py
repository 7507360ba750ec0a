#!/usr/bin/env python3
"""Prints the h1: and t1: hashes of directories, one directory a line.

This is a second implementation, written from the specification in package
hashing's documentation, for tests to compare. It expects trees that are valid.
"""

import base64
import hashlib
import os
import stat
import struct
import sys

METADATA = {b".git", b".hg", b".svn", b".bzr"}


def sha256(data):
    return hashlib.sha256(data).digest()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def entries(top, prefix=b""):
    """Yields (path, kind, content) of all files, links and empty directories."""
    names = [n for n in os.listdir(os.path.join(top, prefix)) if n not in METADATA]
    if not names and prefix:
        yield prefix, b"d", b""
    for name in names:
        path = os.path.join(prefix, name)
        mode = os.lstat(os.path.join(top, path)).st_mode
        if stat.S_ISLNK(mode):
            yield path, b"l", os.readlink(os.path.join(top, path))
        elif stat.S_ISDIR(mode):
            yield from entries(top, path)
        else:
            assert stat.S_ISREG(mode), path
            yield path, b"x" if mode & 0o100 else b"f", read(os.path.join(top, path))


def scheme(name, data):
    return name + ":" + base64.b64encode(sha256(data)).decode()


def h1(top, tree):
    lines = b""
    for path, kind, _ in tree:
        file = os.path.join(top, path)
        if kind != b"d" and os.path.isfile(file):  # isfile follows links
            lines += sha256(read(file)).hex().encode() + b"  " + path + b"\n"
    return scheme("h1", lines)


def field(data):
    return struct.pack(">Q", len(data)) + data


def t1(tree):
    out = field(b"t1") + struct.pack(">Q", len(tree))
    for path, kind, content in tree:
        out += field(path) + kind + struct.pack(">Q", len(content)) + sha256(content)
    return scheme("t1", out)


for directory in sys.argv[1:]:
    top = os.fsencode(directory)
    tree = sorted(entries(top))
    print(h1(top, tree), t1(tree))
