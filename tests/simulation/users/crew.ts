// What a group of users needs who ask for one kind of thing: chance of their own, a way to ask, and somebody who remembers what was
// acknowledged. Each kind is a file of its own, so that one more changes nothing of what the others do.

import type { Outcome, View } from "@lattice/core";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { Client } from "./client.ts";

export interface Desk {
  readonly world: World;
  readonly client: Client;
  readonly random: Random;
  readonly nodes: readonly string[];
  requestId(what: string): string;
  /** While users work; the mean is theirs at their usual pace. */
  every(meanMs: number, deed: () => Promise<void>): void;
  /** To be found on every later leader, under this name. */
  acknowledged(outcome: Outcome | null, name: string, tenant: string): void;
}

export interface Crew {
  begin(): void;
  /** Puts back what it has taken away, so that everything can end; may be called again. */
  tidyUp(view: View): void;
  readonly counts: Readonly<Record<string, number>>;
}
