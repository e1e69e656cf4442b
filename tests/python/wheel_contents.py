"""wheel_contents.py WHEEL, or the folder of the only one: the files of a wheel are those that RECORD lists, with their hashes, and its tag says what
its library needs."""

import ast
import base64
import csv
import hashlib
import io
import os
import re
import sys
import zipfile

path = sys.argv[1]
if os.path.isdir(path):
    (path,) = [entry.path for entry in os.scandir(path) if entry.name.endswith(".whl")]
wheel = zipfile.ZipFile(path)
assert wheel.testzip() is None
names = wheel.namelist()
assert names == sorted(names), "the files are in no order"
name, version, *tag = re.split("-", path.rsplit("/", 1)[-1][: -len(".whl")])
info = f"{name}-{version}.dist-info"
rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(f"{info}/RECORD").decode()))}
assert sorted(rows) == names, sorted(set(rows) ^ set(names))
for file, (digest, size) in rows.items():
    if file == f"{info}/RECORD":
        continue
    data = wheel.read(file)
    expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert (digest, int(size)) == (f"sha256={expected}", len(data)), file
assert f"Tag: {'-'.join(tag)}\n" in wheel.read(f"{info}/WHEEL").decode()
assert f"\nVersion: {version}\n" in wheel.read(f"{info}/METADATA").decode()
for file in names:
    if file.endswith((".py", ".pyi")):
        ast.parse(wheel.read(file).decode())
stubs = wheel.read("dmlop/_ops.pyi").decode()
assert stubs.count("    def ") == 177 + 2, "the stubs have a method for each operator"
if tag[2].startswith("win"):
    library = wheel.read("dmlop/dmlop_c.dll")
    assert library[:2] == b"MZ"
    assert b"dmlop_prepared_run\0" in library
else:
    library = wheel.read("dmlop/libdmlop_c.so")
    assert library[:4] == b"\x7fELF"
    versions = [(int(a), int(b)) for a, b in re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=\0)", library)]
    newest = max(versions)
    assert tag[2].startswith(f"manylinux_{newest[0]}_{newest[1]}_"), (tag, newest)
    assert b"libstdc++.so" not in library and b"libgcc_s.so" not in library
print(path.rsplit("/", 1)[-1], len(names), "files")
