"""Network namespaces: sockets of a pod, made by this process, which stays in its own namespace.

A socket belongs to the namespace of the thread that makes it, so a short thread enters the other one.
"""

import ctypes
import fcntl
import os
import socket
import struct
import threading

CLONE_NEWNET = 0x40000000
SIOCSIFADDR, SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8916, 0x8913, 0x8914
IFF_UP = 1


def inside(pid, function):
    """function() in the network namespace of that process."""
    result = []

    def work():
        try:
            enter(pid)
            result.append((function(), None))
        except OSError as error:
            result.append((None, error))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    value, error = result[0]
    if error:
        raise error
    return value


def enter(pid):
    with open(f"/proc/{pid}/ns/net", "rb") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))


def start_loopback(*addresses):
    """Starts the loopback interface of the current namespace, with further addresses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
        for number, address in enumerate(addresses, 1):
            fcntl.ioctl(control, SIOCSIFADDR, struct.pack("16sHH4s8x", b"lo:%d" % number, socket.AF_INET, 0,
                                                          socket.inet_aton(address)))
