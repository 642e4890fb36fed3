// Users with services: reactive and fixed-size ones, some with probes, some that become unhealthy or fail. They update
// programs and bounds at run time and end after a while.

import {
  type AllocationId,
  type AllocationSpec,
  type Command,
  duration,
  isFinal,
  type LivenessProbe,
  minimalSpec,
  type ScalePolicy,
  type Task,
  type TenantId,
  type VClusterId,
} from "@lattice/core";
import { METRIC } from "../external/metrics.ts";
import { programLine } from "../nodes/program.ts";
import type { Random } from "../world/random.ts";
import { cancellation, originOf, TENANTS } from "./requests.ts";
import type { UserContext, UserGroup } from "./user-group.ts";

/** Mean time between two of each; lifetime of a service. */
const EVERY_MS = { submit: 25_000, update: 30_000 } as const;
const WANTED_MS = 240_000;
/** At a time: the other nodes are for bounded work. */
const MAX_SERVICES = 5;
const PROBE: LivenessProbe = {
  kind: "tcp",
  port: 8_080,
  path: "",
  period: duration(5_000),
  initialDelay: duration(5_000),
  failureThreshold: 2,
  timeout: duration(1_000),
};

export function serviceUsers({ world, client, random, requestId, every, acknowledged }: UserContext): UserGroup {
  const counts = { services: 0, serviceUpdates: 0 };
  const alive = new Map<AllocationId, AllocationSpec>();
  let version = 0;

  const task = (): Task => {
    version += 1;
    return { kind: "entrypoint", line: programLine(serviceProgram(random, version)) };
  };

  async function submit(): Promise<void> {
    if (alive.size >= MAX_SERVICES) return;
    const name = requestId("service");
    const spec = serviceSpec(random, name, task());
    counts.services += 1;
    const command = { kind: "allocation.submit", origin: originOf(name), spec, createTenant: true } as const;
    const outcome = await client.ask(command);
    acknowledged(outcome, name, spec.tenant);
    if (outcome?.kind !== "accepted" || outcome.id === null) return;
    const id = outcome.id as AllocationId;
    alive.set(id, spec);
    world.after(random.wait(WANTED_MS), () => {
      alive.delete(id);
      void client.ask(cancellation(id, requestId("cancel")));
    });
  }

  async function update(): Promise<void> {
    if (alive.size === 0) return;
    const [id, spec] = random.pick([...alive]);
    const reactive = spec.lifecycle.kind === "reactive";
    counts.serviceUpdates += 1;
    const service = reactive && random.chance(0.4) ? { scale: scaleOf(random) } : { task: task() };
    const origin = originOf(requestId("renew"));
    const command: Command = { kind: "allocation.update", origin, id, change: { service } };
    await client.ask(command);
  }

  return {
    counts,
    begin() {
      every(EVERY_MS.submit, submit);
      every(EVERY_MS.update, update);
    },
    tidyUp(view) {
      for (const { id, spec, phase } of view.allocations()) {
        if (spec.lifecycle.kind !== "reactive" || isFinal(phase)) continue;
        void client.ask(cancellation(id, requestId("cancel")));
      }
    },
  };
}

function serviceSpec(random: Random, name: string, task: Task): AllocationSpec {
  const reactive = random.chance(0.7);
  const scale = scaleOf(random);
  const nodes = reactive ? scale.minNodes : random.between(1, 2);
  return minimalSpec({
    tenant: random.pick(TENANTS).id as TenantId,
    vcluster: "service" as VClusterId,
    name,
    task,
    resources: { minNodes: nodes, maxNodes: nodes },
    lifecycle: {
      kind: reactive ? "reactive" : "unbounded",
      walltime: null,
      preemptionClass: random.between(3, 9),
      requeuePolicy: "always",
      maxRequeue: 100,
      ...(reactive ? { scale } : null),
    },
    ...(random.chance(0.7) ? { probe: PROBE } : null),
    ...(random.chance(0.5) ? { expose: [{ name, port: 8_080 }] } : null),
  });
}

function scaleOf(random: Random): ScalePolicy {
  const minNodes = random.between(1, 3);
  return {
    minNodes,
    maxNodes: minNodes + random.between(0, 3),
    metric: METRIC,
    targetMilli: 1_000,
    evaluationInterval: duration(random.pick([1_000, 3_000, 5_000])),
    upWindow: duration(random.pick([0, 5_000, 10_000])),
    downWindow: duration(random.pick([2_000, 8_000, 15_000])),
    downThresholdMilli: 500,
    cooldown: duration(random.pick([5_000, 10_000, 20_000])),
  };
}

function serviceProgram(random: Random, version: number) {
  const fails = random.chance(0.3);
  return {
    runsMs: fails ? random.wait(60_000) : 3_600_000,
    exitCode: fails ? random.between(0, 3) : 0,
    stopsMs: random.chance(0.15) ? null : random.wait(500),
    broken: false,
    sickMs: random.chance(0.4) ? random.wait(20_000) : null,
    version,
  };
}
