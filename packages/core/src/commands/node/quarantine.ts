// node.quarantine: a controller takes a node out of service because work keeps failing on it, or because its
// configuration stays different.

import type { Outcome } from "../../base/outcome.ts";
import { type Quarantine, quarantineNode } from "../../transitions/node/quarantine.ts";
import type { Step } from "../../transitions/step.ts";

export interface QuarantineNodeCommand extends Quarantine {
  readonly kind: "node.quarantine";
}

export const quarantineByController = (step: Step, command: QuarantineNodeCommand): Outcome =>
  quarantineNode(step, command);
