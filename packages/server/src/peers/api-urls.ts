// Where the APIs of all servers are reached, for programs that lose the one they know: this server's own first. Others say it
// when they are asked how they stand; each life of a server is asked until it has answered once.

import { duration } from "@lattice/core";
import type { Clock } from "../base/clock.ts";
import type { Roster } from "./roster.ts";

export interface ApiUrls {
  list(): readonly string[];
  close(): void;
}

interface Options {
  /** "" while it is not known. */
  readonly own: () => string;
  readonly roster: Pick<Roster, "others" | "client">;
  readonly clock: Clock;
}

const LOOK_EVERY = duration(1_000);
const ANSWER_WITHIN_MS = 2_000;

export function createApiUrls({ own, roster, clock }: Options): ApiUrls {
  /** By token; "": asked. */
  const known = new Map<string, string>();
  let cancel = clock.after(LOOK_EVERY, look);

  function look(): void {
    const others = roster.others();
    for (const token of known.keys()) if (!others.some((other) => other.token === token)) known.delete(token);
    for (const { id, token } of others) if (!known.has(token)) void ask(id, token);
    cancel = clock.after(LOOK_EVERY, look);
  }

  async function ask(id: string, token: string): Promise<void> {
    known.set(token, "");
    const answer = await roster
      .client(id)
      ?.memberStatus(ANSWER_WITHIN_MS)
      .catch(() => null);
    if (answer) known.set(token, answer.apiUrl);
    else known.delete(token);
  }

  return {
    list() {
      const others = roster.others().map(({ token }) => known.get(token) ?? "");
      return [own(), ...others].filter((url) => url !== "");
    },
    close: () => cancel(),
  };
}
