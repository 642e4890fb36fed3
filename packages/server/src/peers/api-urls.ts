// The API addresses of all servers, this server's own first, for programs that lose their server. Other servers report
// their address in their member status; each process of a server is asked until it has answered once.

import { duration } from "@lattice/core";
import type { Clock } from "../base/clock.ts";
import type { Roster } from "./roster.ts";

export interface ApiUrls {
  list(): readonly string[];
  close(): void;
}

interface Options {
  /** Returns "" until it is known. */
  readonly own: () => string;
  readonly roster: Pick<Roster, "others" | "client">;
  readonly clock: Clock;
}

const CHECK_INTERVAL = duration(1_000);
const STATUS_TIMEOUT_MS = 2_000;

export function createApiUrls({ own, roster, clock }: Options): ApiUrls {
  /** By token; "" while the answer is outstanding. */
  const known = new Map<string, string>();
  let cancel = clock.after(CHECK_INTERVAL, check);

  function check(): void {
    const others = roster.others();
    for (const token of known.keys()) if (!others.some((other) => other.token === token)) known.delete(token);
    for (const { id, token } of others) if (!known.has(token)) void ask(id, token);
    cancel = clock.after(CHECK_INTERVAL, check);
  }

  async function ask(id: string, token: string): Promise<void> {
    known.set(token, "");
    const answer = await roster
      .client(id)
      ?.memberStatus(STATUS_TIMEOUT_MS)
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
