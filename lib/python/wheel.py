"""wheel.py: makes the wheel of the Python package from its sources and a built library. The same input gives the
same bytes: files have the time of the commit (or SOURCE_DATE_EPOCH), fixed rights, and the order of their names."""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import struct
import subprocess
import sys
import time
import zipfile

FIRST_TIME_OF_ZIP = 315532800  # 1980


def glibc_version(library):
    """The newest version of the C library's symbols that an ELF library needs: (2, 34)."""
    data = library.read_bytes()
    section_offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, section_offset + i * size) for i in range(count)]
    names = sections[names_index][4]
    for name, _, _, _, offset, length in sections:
        if data[names + name:].startswith(b".dynstr\0"):
            found = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", data[offset:offset + length])
            return max((int(major), int(minor)) for major, minor in found)
    raise SystemExit(f"wheel.py: {library} has no .dynstr")


def platform_of(library, machine):
    if library.suffix == ".dll":
        return {"x86_64": "win_amd64", "aarch64": "win_arm64"}[machine]
    if library.suffix == ".dylib":
        return f"macosx_11_0_{machine}"
    major, minor = glibc_version(library)
    return f"manylinux_{major}_{minor}_{machine}"


def library_name(library):
    """What the package calls it, without versions."""
    return "dmlop_c.dll" if library.suffix == ".dll" else library.name.split(".")[0] + (
        ".dylib" if library.suffix == ".dylib" else ".so")


def time_of_commit(source):
    """Seconds as text; "" without git or outside a repository."""
    command = ["git", "-C", str(source), "log", "-1", "--format=%ct"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""


def time_of(source):
    text = os.environ.get("SOURCE_DATE_EPOCH") or time_of_commit(source)
    return max(int(text or FIRST_TIME_OF_ZIP), FIRST_TIME_OF_ZIP)


def metadata(version, readme):
    head = [
        "Metadata-Version: 2.1",
        "Name: dmlop",
        f"Version: {version}",
        "Summary: Runs and checks DirectML operators anywhere",
        "License: MIT",
        "License-File: LICENSE",
        "Requires-Python: >=3.8",
        "Provides-Extra: numpy",
        "Requires-Dist: numpy; extra == 'numpy'",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + readme


def info_of(options):
    """What Python knows about a package that is installed, without how it was installed."""
    readme = (pathlib.Path(options.package) / "README.md").read_text(encoding="utf-8")
    return {
        "METADATA": metadata(options.version, readme).encode(),
        "entry_points.txt": b"[pytest11]\ndmlop = dmlop.pytest_plugin\n",
        "LICENSE": pathlib.Path(options.license).read_bytes(),
    }


def files_of(options, tag):
    package = pathlib.Path(options.package)
    info = f"dmlop-{options.version}.dist-info"
    files = {}
    for file in package.glob("dmlop/*"):
        if file.suffix in (".py", ".typed"):
            files[f"dmlop/{file.name}"] = file.read_bytes()
    files["dmlop/_ops.pyi"] = pathlib.Path(options.stubs).read_bytes()
    library = pathlib.Path(options.library)
    files[f"dmlop/{library_name(library)}"] = library.read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: dmlop\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files.update({f"{info}/{name}": data for name, data in info_of(options).items()})
    return files, f"{info}/RECORD"


def record(files, name):
    lines = []
    for path in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[path]).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(files[path])}\n")
    return ("".join(lines) + f"{name},,\n").encode()


def write(path, files, seconds):
    moment = time.gmtime(seconds)[:6]
    partial = path.with_suffix(".part")
    with zipfile.ZipFile(partial, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            is_library = name.endswith((".so", ".dll", ".dylib"))
            entry.external_attr = (0o100755 if is_library else 0o100644) << 16
            archive.writestr(entry, files[name], compresslevel=9)
    partial.replace(path)


def main():
    parser = argparse.ArgumentParser()
    for name in ("package", "license", "version", "folder"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--info-only", action="store_true",
                        help="write what a package that is installed without the wheel has in its dist-info")
    for name in ("library", "stubs", "machine"):
        parser.add_argument(f"--{name}", required="--info-only" not in sys.argv)
    options = parser.parse_args()
    if options.info_only:
        folder = pathlib.Path(options.folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in info_of(options).items():
            (folder / name).write_bytes(data)
        return
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(options.machine.lower(), options.machine)
    tag = f"py3-none-{platform_of(pathlib.Path(options.library), machine)}"
    files, record_name = files_of(options, tag)
    files[record_name] = record(files, record_name)
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("dmlop-*.whl"):
        old.unlink()
    path = folder / f"dmlop-{options.version}-{tag}.whl"
    write(path, files, time_of(options.package))
    print(path)


if __name__ == "__main__":
    main()
