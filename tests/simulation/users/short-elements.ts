// Users with task groups of many short elements, which wait behind each other on the nodes of their group.

import { type AllocationId, type Command, duration, minimalSpec, type TenantId, type VClusterId } from "@lattice/core";
import { programLine } from "../nodes/program.ts";
import { cancellation, originOf, TENANTS } from "./requests.ts";
import type { UserContext, UserGroup } from "./user-group.ts";

const EVERY_MS = { groups: 25_000, cancel: 40_000 } as const;
const QUEUE = "hpc-batch" as VClusterId;

export function shortElementUsers({ client, random, requestId, every, acknowledged }: UserContext): UserGroup {
  const counts = { shortGroups: 0 };
  let last: string | null = null;

  async function submit(): Promise<void> {
    const name = requestId("short");
    const spec = minimalSpec({
      name,
      tenant: random.pick(TENANTS).id as TenantId,
      vcluster: QUEUE,
      task: {
        kind: "entrypoint",
        line: programLine({
          runsMs: random.between(2, 40),
          exitCode: random.chance(0.1) ? 1 : 0,
          stopsMs: random.wait(300),
          broken: false,
          unready: 0,
        }),
      },
      lifecycle: {
        kind: "bounded",
        walltime: duration(30_000),
        preemptionClass: random.between(0, 6),
        requeuePolicy: random.pick(["never", "on_node_failure", "on_node_failure", "on_node_failure", "always"]),
        maxRequeue: 3,
      },
    });
    const range = { start: 0, end: random.between(20, 90), step: 1 };
    const concurrency = random.chance(0.2) ? random.between(2, 40) : null;
    const command: Command = {
      kind: "group.submit",
      origin: originOf(name),
      spec,
      createTenant: true,
      range,
      concurrency,
    };
    const outcome = await client.ask(command);
    acknowledged(outcome, name, spec.tenant);
    if (outcome?.kind !== "accepted" || outcome.id === null) return;
    counts.shortGroups += 1;
    last = outcome.id;
  }

  /** One element, or a part of the group, often while it runs. */
  async function cancel(): Promise<void> {
    if (last === null) return;
    const from = random.between(0, 60);
    const id = random.chance(0.5) ? `${last}_${from}` : last;
    await client.ask(cancellation(id as AllocationId, requestId("cancel")));
  }

  return {
    counts,
    begin() {
      every(EVERY_MS.groups, submit);
      every(EVERY_MS.cancel, cancel);
    },
    tidyUp: () => undefined,
  };
}
