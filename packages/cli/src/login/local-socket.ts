// The socket at which `lattice up` of root gives each user of this machine a token, and the client's side of it. Only
// root can write to the folder, so an answer comes from root; the kernel tells root which account asks.

import { lstatSync } from "node:fs";
import { connect } from "node:net";

const FOLDER = "/run/lattice";
const MAX_ANSWER = 16_384;
const PATIENCE_MS = 3_000;
/** A token is replaced this long before it expires. */
const RENEW_BEFORE_S = 120;

interface LocalToken {
  readonly token: string;
  readonly expiresAtS: number;
}

export const localSocketPath = (port: number | string): string => `${FOLDER}/up-${port}.sock`;

let known: (LocalToken & { readonly path: string }) | null = null;

/** Returns undefined where no `lattice up` of root serves this address. */
export async function localToken(url: string, refused?: string): Promise<string | undefined> {
  const path = pathFor(url);
  if (path === null) return undefined;
  const fresh =
    known?.path === path && known.token !== refused && known.expiresAtS > Date.now() / 1000 + RENEW_BEFORE_S;
  if (!fresh) {
    const asked = await ask(path);
    known = asked === null ? null : { ...asked, path };
  }
  return known?.token;
}

/** Returns null for other machines, and where there is no socket of root. */
function pathFor(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "http:" || !["127.0.0.1", "localhost", "[::1]"].includes(hostname)) return null;
  const path = localSocketPath(port === "" ? "80" : port);
  const socket = lstatSync(path, { throwIfNoEntry: false });
  const folder = lstatSync(FOLDER, { throwIfNoEntry: false });
  const isOfRoot = socket?.isSocket() === true && folder?.uid === 0 && (folder.mode & 0o022) === 0;
  return isOfRoot ? path : null;
}

/** Returns null without an answer. */
function ask(path: string): Promise<LocalToken | null> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(path);
    const end = (answer: LocalToken | null) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PATIENCE_MS, () => end(null));
    socket.on("error", () => end(null));
    socket.on("data", (bytes) => {
      text += bytes.toString();
      if (text.length > MAX_ANSWER) end(null);
    });
    socket.on("end", () => end(read(text)));
  });
}

function read(text: string): LocalToken | null {
  try {
    const { token, expires_at: expiresAtS } = JSON.parse(text) as Record<string, unknown>;
    return typeof token === "string" && typeof expiresAtS === "number" ? { token, expiresAtS } : null;
  } catch {
    return null;
  }
}
