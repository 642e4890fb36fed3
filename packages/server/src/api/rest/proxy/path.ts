// The parts of an address below /api/v1/services/NAME/proxy: the name of the service and the path for it.

export interface ProxyPath {
  readonly name: string;
  /** As it was written, without a slash at its end. */
  readonly prefix: string;
  /** With the query, beginning with a slash. */
  readonly path: string;
}

const PROXY = /^((?:\/api)?\/v1\/services\/([^/?]{1,200})\/proxy)(\/[^?]*)?(\?.*)?$/;

/** Returns `null` for any other path. */
export function parseProxyPath(url: string): ProxyPath | null {
  const match = PROXY.exec(url);
  if (match === null) return null;
  const [, prefix = "", encoded = "", path = "/", query = ""] = match;
  try {
    return { name: decodeURIComponent(encoded), prefix, path: path + query };
  } catch {
    return null;
  }
}
