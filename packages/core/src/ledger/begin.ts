// Turns charging on, once, when every server knows the ledger. The entry's version does it; the command
// exists so that there is such an entry also where nothing else new is used.

import type { Outcome } from "../outcome.ts";
import { accepted, type Step, unchanged } from "../step.ts";
import { LEDGER_VERSION } from "./version.ts";

export const beginLedger = (step: Step): Outcome =>
  step.state.version >= LEDGER_VERSION ? unchanged(null) : accepted(null);
