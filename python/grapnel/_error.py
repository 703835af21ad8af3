# SPDX-License-Identifier: Apache-2.0
"""Failures of the library as exceptions."""

from __future__ import annotations


class Error(Exception):
    """A call of the library failed.

    Attributes:
        message: what was wrong, where, and what to do.
        code: the negative code, which is a Linux errno value: ``-errno.EIO``.
        name: the name of the code, such as ``"GN_EIO"``.
        device: what the device said: an NVMe status field, or 0.
        row: the number of the first row that could not be moved, or None.
    """

    def __init__(self, message: str, code: int, name: str, device: int = 0, row: int | None = None):
        super().__init__(message, code, name, device, row)
        self.message = message
        self.code = code
        self.name = name
        self.device = device
        self.row = row

    def __str__(self) -> str:
        return f"{self.message} [{self.name}]"


class ArgumentError(Error, ValueError):
    """An argument is out of its domain, or the object is closed (GN_EINVAL)."""


class RangeError(Error, IndexError):
    """A row number or address is past the end (GN_ERANGE)."""


class OutOfMemoryError(Error, MemoryError):
    """The host or the device has not enough memory (GN_ENOMEM)."""


class DeadlineError(Error, TimeoutError):
    """A transfer did not end before its deadline (GN_ETIMEDOUT)."""


class MissingError(Error, FileNotFoundError):
    """There is no such file, device or name (GN_ENOENT)."""


CLASSES: dict[int, type[Error]] = {
    -22: ArgumentError,
    -34: RangeError,
    -12: OutOfMemoryError,
    -110: DeadlineError,
    -2: MissingError,
}
