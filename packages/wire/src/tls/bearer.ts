// Reads the bearer of a certificate. The common name is `{name}.{site}.lattice.internal` or the bare name, and the unit
// is the kind of bearer. A SPIFFE certificate has both in a URI of the form `spiffe://SITE/KIND/NAME`; other URIs, such
// as those of workloads under the same authority, name no bearer. A certificate without a kind belongs to no node and no
// server. Servers and agents both use it.

export interface Bearer {
  /** Every name of the bearer. */
  readonly names: readonly string[];
  /** "agent", "server", "client", or "" when unset. */
  readonly kind: string;
}

/** The form in which Node returns a peer's certificate. */
export interface ShownCertificate {
  readonly subject?: { readonly CN?: string | string[] | undefined; readonly OU?: string | string[] | undefined };
  readonly subjectaltname?: string | undefined;
}

/** URIs of agents where none are configured: `{site}` and `{node}` stand for one part each. */
export const AGENT_URIS = "spiffe://{site}/agent/{node}";

const SUFFIX = ".lattice.internal";

/** `agents` is the form of the URIs of agents; those of servers and clients always have the usual form. */
export function bearerOf({ subject, subjectaltname }: ShownCertificate, agents: string = AGENT_URIS): Bearer {
  const { CN, OU } = subject ?? {};
  const common = typeof CN === "string" ? namesOf(CN) : [];
  const unit = typeof OU === "string" ? OU : "";
  const found = uris(subjectaltname ?? "", agents).filter(({ kind }) => unit === "" || kind === unit);
  const [first] = found;
  // Without a unit the URI decides alone: the common name may be that of anything.
  if (unit === "" && first !== undefined)
    return { names: found.filter(({ kind }) => kind === first.kind).map(({ name }) => name), kind: first.kind };
  return { names: [...new Set([...common, ...found.map(({ name }) => name)])], kind: unit };
}

/** Returns why the certificate does not belong to the node, or `null` if it does. */
export function nodeMismatch({ names, kind }: Bearer, node: string): string | null {
  if (kind === "") return "the certificate names no kind of bearer, so it belongs to no agent";
  if (kind !== "agent") return `the certificate belongs to a ${kind}, not to an agent`;
  return names.includes(node) ? null : `the certificate is for ${names.join(", ") || "no node"}, the hello for ${node}`;
}

function namesOf(common: string): readonly string[] {
  if (!common.endsWith(SUFFIX)) return [common];
  const inner = common.slice(0, -SUFFIX.length);
  // A node's name may contain dots; the site follows the last one.
  const cut = inner.lastIndexOf(".");
  return cut < 0 ? [inner] : [inner.slice(0, cut)];
}

interface UriBearer {
  readonly kind: string;
  readonly name: string;
}

function uris(alternatives: string, agents: string): readonly UriBearer[] {
  const ofAgents = patternOf(agents);
  return alternatives.split(", ").flatMap((one) => {
    if (!one.startsWith("URI:")) return [];
    const uri = one.slice("URI:".length);
    const agent = ofAgents.exec(uri)?.groups?.node;
    const [, kind, name] = /^spiffe:\/\/[^/]+\/(server|client)\/([^/]+)$/.exec(uri) ?? [];
    const found = agent === undefined ? { kind, name } : { kind: "agent", name: agent };
    if (found.kind === undefined || found.name === undefined) return [];
    return [{ kind: found.kind, name: decoded(found.name) }];
  });
}

function patternOf(template: string): RegExp {
  const parts = template.split(/(\{site\}|\{node\})/).map((part) => {
    if (part === "{site}") return "[^/]+";
    return part === "{node}" ? "(?<node>[^/]+)" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`);
}

/** A part that is no valid encoding is taken as it is; no node has such a name. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
