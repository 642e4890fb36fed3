// A loopback address of this test process alone. Ports on it are taken by nobody else: neither by test
// files that run beside this one, nor by outgoing connections, which leave from 127.0.0.1.

/** Out of the process id, so that two processes at the same time never share one. */
export const HOST = `127.${100 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
