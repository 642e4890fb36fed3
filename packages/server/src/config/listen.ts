// Listening addresses: "127.0.0.1:8080", "[::1]:8080", "localhost:0". The host must be written:
// ":8080" would silently mean every interface. Port 0 lets the system choose.

import { isIP } from "node:net";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Null: not an address. */
export function parseListen(text: string): ListenAddress | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+)):([0-9]{1,5})$/i.exec(text.trim());
  if (match === null) return null;
  const host = match[1] ?? match[2] ?? "";
  const port = Number(match[3]);
  if (port > 65_535) return null;
  if (match[1] !== undefined && isIP(host) !== 6) return null;
  return { host, port };
}

export function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || /^(0{0,4}:){1,7}0{0,3}1$/.test(host);
}

export const formatListen = (address: ListenAddress): string =>
  isIP(address.host) === 6 ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
