// The interface of a fault: how it strikes, how it ends, and what must hold afterwards. The load continues meanwhile;
// `recovery.ts` is checked after each fault.

import type { ChaosCluster } from "../cluster.ts";
import type { Load } from "../load/load.ts";
import type { Random } from "../load/random.ts";
import type { Ledger } from "../watch/ledger.ts";

export interface Fault {
  readonly name: string;
  /** One sentence: what must hold. */
  readonly expectation: string;
  inject(context: FaultContext): Promise<Injected>;
}

export interface Injected {
  /** The target, for the record. */
  readonly what: string;
  /** How long it lasts before it is healed. */
  readonly holdMs: number;
  heal(): Promise<void>;
  /** Violated expectations; called once everything is healed. */
  verify(): Promise<readonly string[]>;
}

export interface FaultContext {
  readonly cluster: ChaosCluster;
  readonly load: Load;
  readonly ledger: Ledger;
  readonly random: Random;
}

export const nothing = async (): Promise<void> => {};
export const noComplaints = async (): Promise<readonly string[]> => [];
