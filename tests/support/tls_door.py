"""TLS in front of a PostgreSQL server that was built without it, and authorities to sign for it."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

_SSL_REQUEST = (8).to_bytes(4) + (80877103).to_bytes(4)


def authority(folder: Path, name: str) -> Path:
    """Make an authority; return its certificate, beside which its key is."""
    certificate = folder / f"{name}.pem"
    _openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"),
        *("-keyout", certificate.with_suffix(".key"), "-out", certificate),
    )
    return certificate


def signed(folder: Path, by: Path, host: str) -> Path:
    """Make a certificate for a host, signed by an authority; return it, with its key beside it."""
    made = folder / f"{host}.pem"
    _openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={host}"),
        *("-addext", f"subjectAltName=DNS:{host}", "-CA", by, "-CAkey", by.with_suffix(".key")),
        *("-keyout", made.with_suffix(".key"), "-out", made),
    )
    return made


@contextmanager
def tls_door(port: int, certificate: Path) -> Iterator[int]:
    """Give a port that speaks TLS with a certificate, and passes all on to another port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=_serve, args=(listening, context, port), daemon=True).start()
        yield listening.getsockname()[1]


def _serve(listening: socket.socket, context: ssl.SSLContext, port: int) -> None:
    # Closing the door ends the waiting for guests.
    with suppress(OSError):
        while True:
            guest, _ = listening.accept()
            Thread(target=_welcome, args=(guest, context, port), daemon=True).start()


def _welcome(guest: socket.socket, context: ssl.SSLContext, port: int) -> None:
    # A guest who does not like the certificate goes away in the middle of a word.
    with suppress(OSError), guest:
        if guest.recv(8, socket.MSG_WAITALL) != _SSL_REQUEST:
            return
        guest.sendall(b"S")
        inside = context.wrap_socket(guest, server_side=True)
        with inside, socket.create_connection(("127.0.0.1", port)) as server:
            back = Thread(target=_pass_on, args=(server, inside), daemon=True)
            back.start()
            _pass_on(inside, server)
            back.join()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
