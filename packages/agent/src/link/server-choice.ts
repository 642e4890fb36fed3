// Which server a node dials next, and how long it waits for its welcome. A server that has ended the stream itself is
// alive, as a follower is that has lost its leader: it is dialed again. Otherwise a random other one is, so that the agents
// of a dead server do not all move to the same. A server that did not answer is passed over for a while: a paused one takes
// connections and answers none of them.

/** How often each other server is tried before a silent one. */
const TRIES_OF_EACH = 3;
/** While there is a server that was not tried yet: longer than a live one takes. */
const FIRST_PATIENCE_MS = 2_500;
/** A server that accepts the stream and never answers counts as unreachable. */
const PATIENCE_MS = 10_000;

/** How a connection ended. */
export type ConnectionEnd =
  /** The server is dead, paused or not reachable. */
  | "silent"
  /** The server has ended a stream that worked for a while, without a reason. */
  | "closed"
  | "refused";

export interface ServerChoice {
  current(): string;
  /** The current server has welcomed this node. */
  welcomed(): void;
  /** How long to wait for the welcome of the current server. */
  patienceMs(): number;
  ended(how: ConnectionEnd): void;
}

export function serverChoice(servers: readonly string[], random: () => number): ServerChoice {
  /** With the tries of other servers since. */
  const silent = new Map<string, number>();
  /** Since the last welcome. */
  const tried = new Set<string>();
  // Agents know the servers in the same order, so each starts at a random one.
  let current = servers[Math.floor(random() * servers.length)] ?? "";

  return {
    current: () => current,
    welcomed() {
      silent.clear();
      tried.clear();
    },
    patienceMs() {
      const isLast = servers.every((server) => server === current || tried.has(server));
      return isLast || tried.has(current) ? PATIENCE_MS : FIRST_PATIENCE_MS;
    },
    ended(how) {
      if (how === "closed") return;
      tried.add(current);
      const others = servers.filter((server) => server !== current);
      for (const [server, tries] of silent) {
        if (tries + 1 < TRIES_OF_EACH * others.length) silent.set(server, tries + 1);
        else silent.delete(server);
      }
      if (how === "silent") silent.set(current, 0);
      else silent.delete(current);
      const answering = others.filter((server) => !silent.has(server));
      const pool = answering.length > 0 ? answering : others;
      current = pool[Math.floor(random() * pool.length)] ?? current;
    },
  };
}
