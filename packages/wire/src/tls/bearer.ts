// Reads the bearer of a certificate. The common name is `{name}.{site}.lattice.internal` or the bare name; a SPIFFE
// certificate has the name in the last part of its URI. The unit, where present, is the kind of bearer, so that a
// user's certificate is never accepted for a node. Servers and agents both use it.

export interface Bearer {
  /** Every name of the bearer. */
  readonly names: readonly string[];
  /** "agent", "server", "client", or "" when unset. */
  readonly kind: string;
}

/** The form in which Node returns a peer's certificate. */
export interface ShownCertificate {
  readonly subject?: { readonly CN?: string | string[]; readonly OU?: string | string[] };
  readonly subjectaltname?: string | undefined;
}

const SUFFIX = ".lattice.internal";

export function bearerOf({ subject, subjectaltname }: ShownCertificate): Bearer {
  const { CN, OU } = subject ?? {};
  const common = typeof CN === "string" ? namesOf(CN) : [];
  return { names: [...common, ...uris(subjectaltname ?? "")], kind: typeof OU === "string" ? OU : "" };
}

/** Returns why the certificate does not belong to the node, or `null` if it does. */
export function nodeMismatch({ names, kind }: Bearer, node: string): string | null {
  if (kind !== "" && kind !== "agent") return `the certificate belongs to a ${kind}, not to an agent`;
  return names.includes(node) ? null : `the certificate is for ${names.join(", ") || "no node"}, the hello for ${node}`;
}

function namesOf(common: string): readonly string[] {
  if (!common.endsWith(SUFFIX)) return [common];
  const inner = common.slice(0, -SUFFIX.length);
  // A node's name may contain dots; the site follows the last one.
  const cut = inner.lastIndexOf(".");
  return cut < 0 ? [inner] : [inner.slice(0, cut)];
}

/** `URI:spiffe://alps/agent/nid001234` */
function uris(alternatives: string): readonly string[] {
  return alternatives.split(", ").flatMap((one) => {
    const match = /^URI:spiffe:\/\/[^/]+\/(?:[^/]+\/)*([^/]+)$/.exec(one);
    return match?.[1] === undefined ? [] : [match[1]];
  });
}
