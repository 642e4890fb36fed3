// A loopback address for this test process only. Neither parallel test files nor outgoing connections, which use
// 127.0.0.1, take ports on it.

/** Derived from the process id, so that two live processes never share an address. */
export const HOST = `127.${100 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
