// The keys in etcd, below one prefix per cluster. Names sort so that the log and its small metadata are adjacent: one
// watch covers both and excludes the large pieces.
//
//   log/<first index>             the entries of one append, or the list of its parts
//   meta/first                    index of the first entry kept        meta/head  index of the last
//   meta/leader                   the leader, bound to its lease       meta/term  the last term
//   meta/favoured                 the preferred next leader, bound to an expiring lease
//   meta/member/<name>            a server of the cluster, with the peer address of its member
//   meta/saving/<id>              a snapshot being written, bound to its author's lease
//   meta/server/<name>            a connected server, bound to its lease
//   meta/snapshot/<index>-<id>    a complete snapshot
//   part/<first index>/<id>/<n>   pieces of an append that is too large for one request
//   snapdata/<id>/<n>             pieces of a snapshot

/** Digits of an index in a key: safe integers have at most 16. */
const DIGITS = 16;

export interface Keys {
  readonly prefix: string;
  readonly head: Buffer;
  readonly first: Buffer;
  readonly leader: Buffer;
  readonly term: Buffer;
  log(index: number): Buffer;
  readonly logEnd: Buffer;
  part(index: number, id: string, n: number): Buffer;
  /** Below this key are the parts of all appends before `index`. */
  partsBefore(index: number): Range;
  partsOf(index: number, id: string): Range;
  readonly favoured: Buffer;
  member(name: string): Buffer;
  server(name: string): Buffer;
  saving(id: string): Buffer;
  snapshot(index: number, id: string): Buffer;
  snapshotData(id: string, n: number): Buffer;
  snapshotDataOf(id: string): Range;
  readonly allSnapshotData: Range;
  readonly meta: Range;
  /** The log and the metadata about it. */
  readonly watched: Range;
  parse(key: Uint8Array): ParsedKey;
}

interface Range {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
}

type ParsedKey =
  | { readonly kind: "log"; readonly index: number }
  | { readonly kind: "head" | "first" | "leader" | "term" | "other" }
  | { readonly kind: "member" | "server"; readonly name: string }
  | { readonly kind: "saving"; readonly id: string }
  | { readonly kind: "snapshot"; readonly name: string }
  | { readonly kind: "snapshotData"; readonly id: string };

export function keysUnder(prefix: string): Keys {
  const root = prefix.endsWith("/") ? prefix : `${prefix}/`;
  const key = (...parts: readonly string[]): Buffer => Buffer.from(`${root}${parts.join("/")}`);
  const below = (...parts: readonly string[]): Range => ({
    key: key(...parts, ""),
    rangeEnd: after(key(...parts, "")),
  });
  return {
    prefix: root,
    head: key("meta", "head"),
    first: key("meta", "first"),
    leader: key("meta", "leader"),
    term: key("meta", "term"),
    log: (index) => key("log", padded(index)),
    logEnd: after(key("log", "")),
    part: (index, id, n) => key("part", padded(index), id, padded(n)),
    partsBefore: (index) => ({ key: key("part", ""), rangeEnd: key("part", padded(index)) }),
    partsOf: (index, id) => below("part", padded(index), id),
    favoured: key("meta", "favoured"),
    member: (name) => key("meta", "member", name),
    server: (name) => key("meta", "server", name),
    saving: (id) => key("meta", "saving", id),
    snapshot: (index, id) => key("meta", "snapshot", `${padded(index)}-${id}`),
    snapshotData: (id, n) => key("snapdata", id, padded(n)),
    snapshotDataOf: (id) => below("snapdata", id),
    allSnapshotData: below("snapdata"),
    meta: below("meta"),
    watched: { key: key("log", ""), rangeEnd: after(key("meta", "")) },
    parse: (bytes) => parse(Buffer.from(bytes).toString("utf8").slice(root.length)),
  };
}

const padded = (n: number): string => String(n).padStart(DIGITS, "0");

/** Returns the first key after all keys with this prefix, which ends in a slash. */
function after(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  end[end.length - 1] = (end[end.length - 1] ?? 0) + 1;
  return end;
}

function parse(path: string): ParsedKey {
  const [room = "", name = "", rest = ""] = path.split("/");
  if (room === "log") return { kind: "log", index: Number(name) };
  if (room === "snapdata") return { kind: "snapshotData", id: name };
  if (room !== "meta") return { kind: "other" };
  if (name === "head" || name === "first" || name === "leader" || name === "term") return { kind: name };
  if (name === "member" || name === "server") return { kind: name, name: rest };
  if (name === "saving") return { kind: "saving", id: rest };
  return name === "snapshot" ? { kind: "snapshot", name: rest } : { kind: "other" };
}
