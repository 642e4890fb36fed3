// Which server a node dials next: a random other one, so that the agents of a dead server do not all move to the same.
// A server that did not answer is the last choice: a paused one takes connections and answers none of them, and each
// try would cost the whole time limit of a welcome.

export interface ServerChoice {
  current(): string;
  /** The current server has welcomed this node. */
  welcomed(): void;
  /** The connection has ended; `silent`: without an answer of the server. */
  ended(silent: boolean): void;
}

export function serverChoice(servers: readonly string[], random: () => number): ServerChoice {
  const silent = new Set<string>();
  // Agents know the servers in the same order, so each starts at a random one.
  let current = servers[Math.floor(random() * servers.length)] ?? "";

  return {
    current: () => current,
    welcomed: () => silent.clear(),
    ended(isSilent) {
      if (isSilent) silent.add(current);
      else silent.delete(current);
      const others = servers.filter((server) => server !== current);
      const answering = others.filter((server) => !silent.has(server));
      const pool = answering.length > 0 ? answering : others;
      current = pool[Math.floor(random() * pool.length)] ?? current;
    },
  };
}
