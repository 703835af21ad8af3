# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for hosts: network namespaces with a name of their own, joined by a bridge, with a link of a chosen rate and delay each.

Nothing of the machine's network is changed: the script runs itself again in namespaces of its own, of networks, mounts and processes,
so that all of it ends with the script. The rate is shaped by tc (tbf) at both ends of each link. Many kernels lack netem, so delay is
made here: a link is then two taps, and a process passes the frames of a host on when they are old enough.
"""
import collections
import fcntl
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

INSIDE = "GN_BENCH_HOSTS"
TUNSETIFF, TAP, NO_INFO = 0x400454CA, 2, 0x1000
NET = "10.77.0"
MTU = 9000


def enter():
    """Begin the script again in namespaces of its own. Returns why that is not possible, or ""."""
    if os.environ.get(INSIDE) and os.getpid() == 1:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # the first process of a namespace ignores it otherwise
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return ""
    missing = [tool for tool in ("unshare", "nsenter", "ip", "tc", "mpirun") if not shutil.which(tool)]
    if missing:
        return f"{', '.join(missing)} cannot be found; install util-linux, iproute2 and Open MPI"
    own = ["unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
    link = "ip link add gn0 type veth peer name gn1 && ip link add gn2 type bridge && tc qdisc add dev gn0 root tbf rate 1mbit " \
           "burst 32kb latency 1s && test -c /dev/net/tun"
    done = subprocess.run([*own, "sh", "-c", link], capture_output=True, text=True)
    if done.returncode:
        return f"no namespaces with veth, bridge, tbf and tap here: {done.stderr.strip()}; run as root, on a kernel that has them"
    child = subprocess.Popen([*own, sys.executable, *sys.argv], env={**os.environ, INSIDE: "1"})

    def end(*_):
        """unshare blocks the signal, so the script inside gets it, and removes what it has made."""
        with open(f"/proc/{child.pid}/task/{child.pid}/children", encoding="ascii") as inner:
            for pid in inner.read().split():
                os.kill(int(pid), signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    sys.exit(child.wait())


def tap(name):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), TAP | NO_INFO))
    return fd


def give(fd, frame):
    try:
        os.write(fd, frame)
    except OSError:
        pass  # a full queue loses frames, as a link does


def pass_on(pairs, seconds):
    """Until the links are gone: frames of a host's tap to the bridge's after so many seconds, frames of the bridge's at once."""
    partner, late = {}, collections.deque()
    for host, bridge in pairs:
        partner[host], partner[bridge] = (bridge, seconds), (host, 0)
    while True:
        wait = max(0, late[0][0] - time.monotonic()) if late else 1
        for fd in select.select(list(partner), [], [], wait)[0]:
            try:
                frame = os.read(fd, MTU + 100)
            except BlockingIOError:
                continue
            except OSError:
                return  # the links are gone
            to, delay = partner[fd]
            if delay:
                late.append((time.monotonic() + delay, to, frame))
            else:
                give(to, frame)
        while late and late[0][0] <= time.monotonic():
            give(*late.popleft()[1:])


class Hosts:
    """`with Hosts(4, delay=1e-3) as hosts: run_json(hosts.launch + [program])`. Delay: seconds from a host to another; rate: bits a
    second, each way of each host; 0: as fast as it goes."""

    def __init__(self, count, delay=0, rate=0):
        self.count, self.delay, self.rate = count, delay, rate
        self.children, self.taps, self.folder = [], [], tempfile.TemporaryDirectory()

    def shape(self, device, *inside):
        if self.rate:
            subprocess.run([*inside, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{self.rate}bit", "burst", "20kb",
                            "latency", "2s"], check=True)

    def host(self, k):
        """The process that holds namespace k; its link hK to the bridge is eK inside."""
        holder = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c", f"hostname h{k} && echo && exec sleep 100000"],
                                  stdout=subprocess.PIPE)
        self.children.append(holder)
        holder.stdout.readline()
        inside = ["nsenter", "-t", str(holder.pid), "-n"]
        if self.delay:
            self.taps.append((tap(f"e{k}"), tap(f"h{k}")))
            self.ip(f"link set e{k} netns {holder.pid}")
        else:
            self.ip(f"link add h{k} type veth peer name e{k} netns {holder.pid}")
        self.ip(f"link set h{k} mtu {MTU} master gn up")
        for what in ("link set lo up", f"link set e{k} mtu {MTU} up", f"addr add {NET}.{k}/24 dev e{k}"):
            self.ip(what, *inside)
        self.shape(f"h{k}")
        self.shape(f"e{k}", *inside)
        return holder.pid

    @staticmethod
    def ip(what, *inside):
        subprocess.run([*inside, "ip", *what.split()], check=True)

    def agent(self, pids):
        """What mpirun calls as if it were ssh."""
        path = os.path.join(self.folder.name, "agent")
        with open(path, "w") as out:
            cases = "".join(f"h{k}) pid={pid};; " for k, pid in enumerate(pids, 1))
            out.write(f'#!/bin/sh\ncase $1 in {cases} esac\nshift\nexec nsenter -t $pid -n -u sh -c "$*"\n')
        os.chmod(path, 0o700)
        return path

    def __enter__(self):
        for what in ("link add gn type bridge", "link set gn up", f"addr add {NET}.254/24 dev gn"):
            self.ip(what)
        pids = [self.host(k) for k in range(1, self.count + 1)]
        if self.taps:
            self.children.append(self.wires())
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.launch = ["mpirun", "-np", str(self.count), "--host", ",".join(f"h{k}" for k in range(1, self.count + 1))]
        for key, value in (("plm_rsh_agent", self.agent(pids)), ("plm_rsh_no_tree_spawn", "1"), ("pml", "ob1"), ("btl", "tcp,self"),
                           ("btl_tcp_if_include", f"{NET}.0/24"), ("oob_tcp_if_include", f"{NET}.0/24"),
                           ("hwloc_base_binding_policy", "none")):
            self.launch += ["--mca", key, value]
        return self

    def wires(self):
        pid = os.fork()
        if not pid:
            try:
                pass_on(self.taps, self.delay)
            finally:
                os._exit(0)
        for pair in self.taps:
            for fd in pair:
                os.close(fd)
        return pid

    def __exit__(self, *unused):
        for child in reversed(self.children):
            pid = child if isinstance(child, int) else child.pid
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.ip("link del gn")
        self.folder.cleanup()
