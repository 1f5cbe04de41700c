"""No network of any kind, loopback included."""

from __future__ import annotations

from scalebox.sandbox.probes.scene import Probe, refused

_SOCKETS = """
import socket
FAMILIES = {"inet": 2, "inet6": 10, "unix": 1, "netlink": 16, "packet": 17, "vsock": 40, "alg": 38, "xdp": 44,
            "bluetooth": 31, "can": 29, "tipc": 30}
for name, family in FAMILIES.items():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        attempt("%s %d" % (name, kind), socket.socket, family, kind)
attempt("datagram pair", socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM)
"""

_CONNECTIONS = """
import socket
def talk(family, kind, address):
    with socket.socket(family, kind) as sock:
        sock.settimeout(5)
        sock.connect(address)
        sock.send(b"hello")
attempt("TCP to the host", talk, socket.AF_INET, socket.SOCK_STREAM, tuple(HOST["tcp"]))
attempt("UDP to the host", talk, socket.AF_INET, socket.SOCK_DGRAM, tuple(HOST["udp"]))
attempt("abstract socket of the host", talk, socket.AF_UNIX, socket.SOCK_DGRAM, HOST["abstract"])
attempt("name service", socket.getaddrinfo, "scalebox.invalid", 80)
"""

_SERVERS = """
import socket
def serve(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.bind(address)
        sock.listen()
attempt("listen on loopback", serve, socket.AF_INET, ("127.0.0.1", 0))
attempt("listen on all", serve, socket.AF_INET6, ("::", 0))
attempt("listen on a path", serve, socket.AF_UNIX, "here.sock")
attempt("listen on a name", serve, socket.AF_UNIX, "\\0probe-%d" % os.getpid())
if not JAILED and os.path.exists("here.sock"):
    os.unlink("here.sock")
"""

_PAIRS = """
import socket
left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
def send_elsewhere():
    left.sendto(b"hello", HOST["abstract"])
attempt("send on a pair elsewhere", send_elsewhere)
attempt("connect a pair elsewhere", left.connect, HOST["abstract"])
attempt("rename a pair", left.bind, "\\0probe-pair")
attempt("accept on a pair", left.accept)
"""

PROBES = (
    Probe(
        name="network.sockets",
        promise="No socket of any family can be made, and no pair of datagram sockets.",
        check=refused(_SOCKETS),
    ),
    Probe(
        name="network.connect",
        promise="Neither the machine nor anything beyond it can be connected to or sent to.",
        check=refused(_CONNECTIONS),
    ),
    Probe(
        name="network.listen",
        promise="Nobody can be let in: no listening on addresses, paths or abstract names.",
        check=refused(_SERVERS),
    ),
    Probe(
        name="network.pairs",
        promise="A pair of stream sockets, as asyncio makes, talks to itself only.",
        check=refused(_PAIRS, control=False),
    ),
)
