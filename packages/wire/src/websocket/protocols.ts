// The names of protocols in a WebSocket's opening. A page can say who it is in no other header, so a token may come as one of them, in
// base64url because a name takes few characters; the server chooses the other one and never says the token back.

/** What terminals speak. */
export const SOCKET_PROTOCOL = "lattice.v1";
const BEARER = "lattice.bearer.";

/** What a page offers to say who it is. */
export const protocolsWith = (token: string): readonly string[] => [SOCKET_PROTOCOL, `${BEARER}${encoded(token)}`];

/** Of the header `sec-websocket-protocol`. */
export const offeredProtocols = (header: string | undefined): readonly string[] =>
  (header ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** Null: there is none, or it is none. */
export function bearerFromProtocols(offered: readonly string[]): string | null {
  const text = offered.find((name) => name.startsWith(BEARER))?.slice(BEARER.length);
  if (text === undefined || !/^[A-Za-z0-9_-]+$/.test(text)) return null;
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
}

/** Without what was meant for the server. */
export const withoutBearer = (offered: readonly string[]): readonly string[] =>
  offered.filter((name) => !name.startsWith(BEARER) && name !== SOCKET_PROTOCOL);

const encoded = (token: string): string => btoa(token).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
