// The interface of a group of users with one kind of work: its own random stream, a client, and a record of
// acknowledged work. Each kind is its own file, so that a new one does not change the others.

import type { Outcome, View } from "@lattice/core";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { Client } from "./client.ts";

export interface UserContext {
  readonly world: World;
  readonly client: Client;
  readonly random: Random;
  readonly nodes: readonly string[];
  requestId(what: string): string;
  /** While users work; the mean is at their usual pace. */
  every(meanMs: number, action: () => Promise<void>): void;
  /** Must exist on every later leader, under this name. */
  acknowledged(outcome: Outcome | null, name: string, tenant: string): void;
}

export interface UserGroup {
  begin(): void;
  /** Restores what it has removed, so that everything can finish; may be called again. */
  tidyUp(view: View): void;
  readonly counts: Readonly<Record<string, number>>;
}
