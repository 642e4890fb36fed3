// Subprotocol names of a WebSocket handshake. A page can set no other header, so a token may travel as a subprotocol, in
// base64url because names allow few characters. The server selects the other subprotocol and never echoes the token.

/** The subprotocol of terminals. */
export const SOCKET_PROTOCOL = "lattice.v1";
const BEARER = "lattice.bearer.";

/** Returns the subprotocols that carry the token of a page. */
export const protocolsWith = (token: string): readonly string[] => [SOCKET_PROTOCOL, `${BEARER}${encoded(token)}`];

/** Splits the header `sec-websocket-protocol`. */
export const offeredProtocols = (header: string | undefined): readonly string[] =>
  (header ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** Returns `null` without a valid token. */
export function bearerFromProtocols(offered: readonly string[]): string | null {
  const text = offered.find((name) => name.startsWith(BEARER))?.slice(BEARER.length);
  if (text === undefined || !/^[A-Za-z0-9_-]+$/.test(text)) return null;
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
}

/** Returns the subprotocols without those for the server. */
export const withoutBearer = (offered: readonly string[]): readonly string[] =>
  offered.filter((name) => !name.startsWith(BEARER) && name !== SOCKET_PROTOCOL);

const encoded = (token: string): string => btoa(token).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
