// The parts of an address below /api/v1/services/NAME/proxy: whose it is, and what the service gets to see of it.

export interface Place {
  readonly name: string;
  /** As it was written, without a slash at its end. */
  readonly prefix: string;
  /** With the query, beginning with a slash. */
  readonly path: string;
}

const PROXY = /^((?:\/api)?\/v1\/services\/([^/?]{1,200})\/proxy)(\/[^?]*)?(\?.*)?$/;

/** Returns `null` for any other path. */
export function placeOf(url: string): Place | null {
  const match = PROXY.exec(url);
  if (match === null) return null;
  const [, prefix = "", encoded = "", path = "/", query = ""] = match;
  try {
    return { name: decodeURIComponent(encoded), prefix, path: path + query };
  } catch {
    return null;
  }
}
