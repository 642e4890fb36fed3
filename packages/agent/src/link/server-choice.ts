// Which server a node dials next: a random other one, so that the agents of a dead server do not all move to the same.
// A server that did not answer is passed over for a while: a paused one takes connections and answers none of them, and
// each try would cost the whole time limit of a welcome.

/** How often each other server is tried before a silent one. */
const TRIES_OF_EACH = 3;

export interface ServerChoice {
  current(): string;
  /** The current server has welcomed this node. */
  welcomed(): void;
  /** The connection has ended; `silent`: without an answer of the server. */
  ended(silent: boolean): void;
}

export function serverChoice(servers: readonly string[], random: () => number): ServerChoice {
  /** With the tries of other servers since. */
  const silent = new Map<string, number>();
  // Agents know the servers in the same order, so each starts at a random one.
  let current = servers[Math.floor(random() * servers.length)] ?? "";

  return {
    current: () => current,
    welcomed: () => silent.clear(),
    ended(isSilent) {
      const others = servers.filter((server) => server !== current);
      for (const [server, tries] of silent) {
        if (tries + 1 < TRIES_OF_EACH * others.length) silent.set(server, tries + 1);
        else silent.delete(server);
      }
      if (isSilent) silent.set(current, 0);
      else silent.delete(current);
      const answering = others.filter((server) => !silent.has(server));
      const pool = answering.length > 0 ? answering : others;
      current = pool[Math.floor(random() * pool.length)] ?? current;
    },
  };
}
