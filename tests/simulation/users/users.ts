// Random users work until they are stopped; then they clean up: services are cancelled, suspended work is resumed,
// quotas are restored and nodes enabled, so that everything can finish.

import { type AllocationId, type DagId, isFinal, type View } from "@lattice/core";
import type { ProcessChecks } from "../checks/processes.ts";
import type { World } from "../world/world.ts";
import type { Client } from "./client.ts";
import { type EarlierWork, flow } from "./flows.ts";
import { networkUsers } from "./networks.ts";
import { operators } from "./operators.ts";
import {
  cancellation,
  lendingCommand,
  newWalltime,
  nodeCommand,
  quotaChange,
  resumption,
  submission,
  TENANTS,
  tenantCommands,
} from "./requests.ts";
import { serviceUsers } from "./services.ts";
import { shortElementUsers } from "./short-elements.ts";
import { smallUsers } from "./small.ts";
import type { UserContext, UserGroup } from "./user-group.ts";

/** Each kind has its own random stream. */
const CREWS: Readonly<Record<string, (context: UserContext) => UserGroup>> = {
  services: serviceUsers,
  networks: networkUsers,
  operators,
  small: smallUsers,
  "short elements": shortElementUsers,
};

export interface Users {
  begin(): void;
  stop(): void;
  /**
   * Restores what administrators removed, cancels unbounded work, and resumes suspended work; may be called again.
   */
  tidyUp(view: View): void;
  /** Acknowledged submissions: id and name. */
  readonly acknowledged: ReadonlyMap<AllocationId, string>;
  /** Whole DAGs. */
  readonly dags: ReadonlySet<DagId>;
  readonly counts: {
    submitted: number;
    groups: number;
    dags: number;
    cancelled: number;
    updated: number;
    nodes: number;
    quotas: number;
  };
  readonly groups: readonly UserGroup[];
}

export interface UsersParts {
  readonly world: World;
  readonly client: Client;
  readonly truth: ProcessChecks;
  readonly nodes: readonly string[];
  /** Factor by which all users are slower than usual. */
  readonly pace: number;
  /** Kinds of users that do not work. */
  readonly withoutUsers: readonly string[];
}

/** Mean time between two of each. */
const EVERY_MS = { submit: 4_500, cancel: 30_000, update: 25_000, nodes: 45_000, quota: 120_000 } as const;

export function createUsers({ world, client, truth, nodes, pace, withoutUsers }: UsersParts): Users {
  const random = world.random("users");
  const acknowledged = new Map<AllocationId, string>();
  const earlier: EarlierWork[] = [];
  const dags = new Set<DagId>();
  const counts = { submitted: 0, groups: 0, dags: 0, cancelled: 0, updated: 0, nodes: 0, quotas: 0 };
  let working = false;
  let requests = 0;

  const requestId = (what: string): string => {
    requests += 1;
    return `${what}-${requests}`;
  };
  const anyone = (): AllocationId | null => {
    const recent = [...acknowledged.keys()].slice(-40);
    return recent.length === 0 ? null : random.pick(recent);
  };

  async function submit(): Promise<void> {
    const name = requestId("job");
    const alone = submission(random, name);
    const { command, specs } = flow(random, name, earlier) ?? { command: alone.command, specs: [alone.spec] };
    for (const spec of specs) {
      if (spec.lifecycle.walltime !== null) truth.allow(spec.name, spec.lifecycle.walltime);
    }
    counts.submitted += 1;
    if (command.kind === "group.submit") counts.groups += 1;
    if (command.kind === "dag.submit") counts.dags += 1;
    const outcome = await client.ask(command);
    if (outcome?.kind === "accepted" && outcome.id !== null) keep(outcome.id, name, specs[0]?.tenant ?? "");
    if (outcome?.kind === "accepted") world.note(`acknowledged ${name} as ${outcome.id}`);
  }

  function keep(id: string, name: string, tenant: string): void {
    if (id.startsWith("dag-")) {
      dags.add(id as DagId);
      return;
    }
    acknowledged.set(id as AllocationId, name);
    earlier.push({ id: id as AllocationId, tenant });
  }

  const crews = Object.entries(CREWS).filter(([kind]) => !withoutUsers.includes(kind));
  const groups = crews.map(([kind, group]) =>
    group({
      world,
      client,
      requestId,
      nodes,
      random: world.random(`users ${kind}`),
      every: (meanMs, action) => every(meanMs * pace, action),
      acknowledged(outcome, name, tenant) {
        if (outcome?.kind !== "accepted" || outcome.id === null) return;
        keep(outcome.id, name, tenant);
        world.note(`acknowledged ${name} as ${outcome.id}`);
      },
    }),
  );

  async function cancel(): Promise<void> {
    const id = anyone();
    if (id === null) return;
    counts.cancelled += 1;
    await client.ask(cancellation(id, requestId("cancel")));
  }

  async function update(): Promise<void> {
    const id = anyone();
    if (id === null) return;
    const walltime = random.pick([20, 60, 180]) * 1_000;
    truth.mayExtend(acknowledged.get(id) ?? "", walltime);
    counts.updated += 1;
    await client.ask(newWalltime(id, walltime, requestId("update")));
  }

  async function tendNodes(): Promise<void> {
    counts.nodes += 1;
    const node = random.pick(nodes);
    const [take, back] = random.chance(0.5) ? (["drain", "undrain"] as const) : (["disable", "enable"] as const);
    await client.ask(nodeCommand(take, node, requestId(take)));
    world.after(random.wait(60_000), () => void client.ask(nodeCommand(back, node, requestId(back))));
  }

  async function changeQuota(): Promise<void> {
    counts.quotas += 1;
    await client.ask(quotaChange("physics", random.pick([4, 8, 12, 20, null]), requestId("quota")));
  }

  function every(meanMs: number, action: () => Promise<void>): void {
    world.after(random.wait(meanMs), () => {
      if (!working) return;
      every(meanMs, action);
      void action();
    });
  }

  return {
    acknowledged,
    dags,
    counts,
    groups,
    begin() {
      working = true;
      for (const command of [...tenantCommands(), lendingCommand()]) void client.ask(command);
      every(EVERY_MS.submit * pace, submit);
      every(EVERY_MS.cancel * pace, cancel);
      every(EVERY_MS.update * pace, update);
      every(EVERY_MS.nodes * pace, tendNodes);
      every(EVERY_MS.quota * pace, changeQuota);
      for (const group of groups) group.begin();
    },
    stop() {
      working = false;
    },
    tidyUp(view) {
      for (const group of groups) group.tidyUp(view);
      for (const { id, maxNodes } of TENANTS) {
        if (view.tenant(id as never)?.quota.maxNodes !== maxNodes)
          void client.ask(quotaChange(id, maxNodes, requestId("quota")));
      }
      for (const record of view.allocations()) {
        if (record.phase.kind === "suspended" && record.phase.cause === "walltime")
          void client.ask(resumption(record.id, requestId("resume")));
        if (record.spec.lifecycle.kind === "bounded" || isFinal(record.phase)) continue;
        void client.ask(cancellation(record.id, requestId("cancel")));
      }
      for (const node of view.nodes()) {
        if (node.state.kind === "drained") void client.ask(nodeCommand("undrain", node.id, requestId("undrain")));
        if (node.state.kind === "down") void client.ask(nodeCommand("enable", node.id, requestId("enable")));
      }
    },
  };
}
