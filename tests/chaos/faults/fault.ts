// What a fault is: how it strikes, how it ends, and what must be true afterwards. Between striking and ending the load
// goes on; what follows for everyone (`recovery.ts`) is checked after each.
import type { Load } from "../load/load.ts";
import type { Random } from "../load/random.ts";
import type { Stage } from "../stage.ts";
import type { Ledger } from "../watch/ledger.ts";

export interface Fault {
  readonly name: string;
  /** One sentence: what must hold. */
  readonly expectation: string;
  inject(scene: Scene): Promise<Injected>;
}

export interface Injected {
  /** For the record: what was struck. */
  readonly what: string;
  /** How long it lasts before it is healed. */
  readonly holdMs: number;
  heal(): Promise<void>;
  /** Sentences about what did not come true; asked once all is healed. */
  verify(): Promise<readonly string[]>;
}

export interface Scene {
  readonly stage: Stage;
  readonly load: Load;
  readonly ledger: Ledger;
  readonly random: Random;
}

export const nothing = async (): Promise<void> => {};
export const noComplaints = async (): Promise<readonly string[]> => [];
