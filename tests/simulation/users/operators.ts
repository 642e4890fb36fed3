// Operators with external monitoring: they report broken, worn and repaired hardware, drain nodes urgently, and enable
// quarantined nodes.

import type { NodeId } from "@lattice/core";
import { nodeCommand, originOf } from "./requests.ts";
import type { UserContext, UserGroup } from "./user-group.ts";

/** Mean time between two of each, and until a repair. */
const EVERY_MS = { report: 60_000, drain: 75_000, enable: 20_000 } as const;
const REPAIR_MS = 60_000;

export function operators({ world, client, random, requestId, every, nodes }: UserContext): UserGroup {
  const counts = { hardwareReports: 0, urgentDrains: 0 };

  const notify = (node: string, verdict: "hardware" | "warning" | "repaired") =>
    client.ask({ kind: "node.health", node: node as NodeId, verdict, reason: "as seen from outside" });

  async function report(): Promise<void> {
    const node = random.pick(nodes);
    const verdict = random.pick(["hardware", "hardware", "warning", "repaired"] as const);
    if (verdict === "hardware") world.after(random.wait(REPAIR_MS), () => void notify(node, "repaired"));
    const outcome = await notify(node, verdict);
    if (outcome?.kind === "accepted" && verdict === "hardware") counts.hardwareReports += 1;
  }

  async function drain(): Promise<void> {
    const node = random.pick(nodes) as NodeId;
    world.after(random.wait(60_000), () => void client.ask(nodeCommand("undrain", node, requestId("undrain"))));
    const origin = originOf(requestId("drain"));
    const outcome = await client.ask({ kind: "node.drain", origin, node, reason: "at once", urgent: true });
    if (outcome?.kind === "accepted") counts.urgentDrains += 1;
  }

  async function enable(): Promise<void> {
    await client.ask(nodeCommand("enable", random.pick(nodes), requestId("enable")));
  }

  return {
    counts,
    begin() {
      every(EVERY_MS.report, report);
      every(EVERY_MS.drain, drain);
      every(EVERY_MS.enable, enable);
    },
    tidyUp(view) {
      for (const { id, state } of view.nodes()) {
        if (state.kind === "down" && state.cause === "hardware") void notify(id, "repaired");
      }
    },
  };
}
