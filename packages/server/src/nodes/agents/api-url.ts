// The URL of this server's API for programs on nodes: the address it listens on, or its peer address when it listens on
// all addresses of the machine. Pure.

const EVERY_ADDRESS = new Set(["0.0.0.0", "[::]", "::", ""]);

/** Both addresses are host:port; only the host of `known` is used. */
export function apiUrlOf(listening: string, known: string, secure = false): string {
  const [host, port] = split(listening);
  return `${secure ? "https" : "http"}://${EVERY_ADDRESS.has(host) ? split(known)[0] : host}:${port}`;
}

function split(address: string): readonly [host: string, port: string] {
  const at = address.lastIndexOf(":");
  return [address.slice(0, at), address.slice(at + 1)];
}
