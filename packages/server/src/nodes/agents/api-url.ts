// Where a program on a node reaches this server's API: the address it listens on, or, when that is
// every address of the machine, the one by which its peers know it. Pure.

const EVERY_ADDRESS = new Set(["0.0.0.0", "[::]", "::", ""]);

/** Both as host:port; only the host of `known` counts. */
export function apiUrlOf(listening: string, known: string, secure = false): string {
  const [host, port] = split(listening);
  return `${secure ? "https" : "http"}://${EVERY_ADDRESS.has(host) ? split(known)[0] : host}:${port}`;
}

function split(address: string): readonly [host: string, port: string] {
  const at = address.lastIndexOf(":");
  return [address.slice(0, at), address.slice(at + 1)];
}
