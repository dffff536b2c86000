#!/usr/bin/env python3
"""A Debian mirror with faults, on the loopback interface, for setup/tests/run.sh.

    mirror.py FOLDER FAULTS LOG

Serves FOLDER. FAULTS is a file that is read again at each request, one `COUNT FAULT SUFFIX` a line: the first COUNT requests
(0: all of them) for a path that ends in SUFFIX meet the fault. Faults:

    404           the file is not there
    503           the server is overloaded
    size=N        the file is N bytes longer than it should be
    damage        the file has another last byte
    abort=N       the connection breaks N bytes after the start of what was asked for
    short=N       the server claims that the file ends after N bytes
    stall=N       after N bytes nothing more comes
    rate=N        N bytes a second
    stale=FILE    FILE of FOLDER is served in its place

LOG gets one `STATUS PATH RANGE` line for each request. Prints its port.
"""

import http.server
import pathlib
import re
import sys
import time

FOLDER, FAULTS, LOG = (pathlib.Path(name).resolve() for name in sys.argv[1:4])
# How often a fault has been met, by its line, since it stands there.
met = {}


def fault_of(path):
    for line in FAULTS.read_text().splitlines() if FAULTS.exists() else []:
        if not line:
            continue
        count, fault, suffix = line.split()
        key = (FAULTS.stat().st_mtime_ns, line)
        if path.endswith(suffix) and (count == "0" or met.get(key, 0) < int(count)):
            met[key] = met.get(key, 0) + 1
            name, _, value = fault.partition("=")
            return name, value
    return "", ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, path, headers):
        with open(LOG, "a") as log:
            print(status, path, self.headers.get("Range", "-"), file=log)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def do_GET(self):
        path = self.path.replace("%2b", "+").replace("%7e", "~").replace("%3a", ":")
        name, value = fault_of(path)
        file = FOLDER / (value if name == "stale" else path.lstrip("/"))
        if name == "503" or name == "404" or not file.is_file():
            self.answer(503 if name == "503" else 404, path, {"Content-Length": "0"})
            return
        data = file.read_bytes()
        if name == "size":
            data += b"\0" * int(value)
        if name == "damage":
            data = data[:-1] + bytes([data[-1] ^ 1])
        if name == "short":
            data = data[:int(value)]
        begin = 0
        if found := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
            begin = int(found[1])
        headers = {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "Accept-Ranges": "bytes"}
        if begin > len(data) or (begin == len(data) and begin):
            self.answer(416, path, {**headers, "Content-Range": f"bytes */{len(data)}", "Content-Length": "0"})
            return
        if begin:
            headers["Content-Range"] = f"bytes {begin}-{len(data) - 1}/{len(data)}"
        self.answer(206 if begin else 200, path, {**headers, "Content-Length": str(len(data) - begin)})
        data = data[begin:]
        try:
            if name == "abort":
                self.wfile.write(data[:int(value)])
                self.close_connection = True
            elif name == "stall":
                self.wfile.write(data[:int(value)])
                self.wfile.flush()
                time.sleep(3600)
            elif name == "rate":
                piece = max(1, int(value) // 10)
                for at in range(0, len(data), piece):
                    self.wfile.write(data[at:at + piece])
                    time.sleep(0.1)
            else:
                self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
# A client that hangs up is no news.
server.handle_error = lambda request, client: None
print(server.server_port, flush=True)
server.serve_forever()
