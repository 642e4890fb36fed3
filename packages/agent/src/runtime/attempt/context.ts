// The shared context of the process runtime: the node's resources, the directories of attempts, and the processes known
// to this agent. Only the functions of the runtime change it.

import { join } from "node:path";
import type { Logger } from "pino";
import type { AttemptPlace, Isolation } from "../../host/isolation/isolation.ts";
import type { LimitGroups } from "../../host/isolation/limit-groups.ts";
import type { ProcessUsage } from "../../host/usage/usage.ts";
import type { ReceivedOrder } from "../../lifecycle/attempt.ts";
import type { PrologueParts } from "../base/engine.ts";
import { readLaunch } from "../base/launch-file.ts";
import type { RuntimeListener } from "../base/runtime.ts";
import type { Watch } from "./reattach.ts";
import type { LogRetention } from "./retention.ts";
import type { WarmPool } from "./warm.ts";

interface AttemptProcess {
  /** Process id of the wrapper; `null` when it has ended or its id was reused. */
  readonly leader: number | null;
  /** Name of the wrapper and of its control group. */
  readonly group: string;
  /** The user of the command; null for the agent's own, or while it is unknown. */
  readonly uid: number | null;
  /** The counters of its wrapper and its group when it began. */
  readonly before: ProcessUsage | null;
  /** Processes that have received SIGTERM. */
  readonly signalled: Set<number>;
}

interface WaitingOrder {
  readonly received: ReceivedOrder;
  /** No wrapper of an earlier run can know the folder. */
  readonly isFirst: boolean;
}

export interface RuntimeContext {
  readonly nodeId: string;
  readonly bootId: string;
  readonly isolation: Isolation;
  readonly limits: LimitGroups;
  readonly prologue: PrologueParts;
  readonly log: Logger;
  readonly listener: RuntimeListener;
  /** Variables that every job gets unless it sets them itself. */
  readonly offered: () => Readonly<Record<string, string>>;
  readonly attemptsDir: string;
  readonly endedDir: string;
  readonly processes: Map<string, AttemptProcess>;
  /** By group: the last reading of all that it has counted. */
  readonly counted: Map<string, ProcessUsage>;
  /** Orders on disk that wait for their turn. */
  readonly waiting: Map<string, WaitingOrder>;
  /** Attempts whose prologue runs now. */
  readonly preparing: Map<string, AbortController>;
  readonly closing: AbortController;
  readonly retention: LogRetention;
  readonly watch: Watch;
  readonly warm: WarmPool;
}

export const dirOf = ({ attemptsDir }: Pick<RuntimeContext, "attemptsDir">, key: string): string =>
  join(attemptsDir, key);

export const groupOf = ({ processes }: Pick<RuntimeContext, "processes">, key: string): string =>
  processes.get(key)?.group ?? key;

export const placeOf = (context: Pick<RuntimeContext, "attemptsDir" | "processes">, key: string): AttemptPlace => ({
  key: groupOf(context, key),
  dir: dirOf(context, key),
  leader: context.processes.get(key)?.leader ?? null,
  uid: context.processes.get(key)?.uid ?? null,
});

/** Reads the facts about its process from the launch file. */
export function keptOf(dir: string): Pick<AttemptProcess, "uid" | "before"> {
  const kept = readLaunch(dir);
  return { uid: kept?.owner?.uid ?? null, before: kept?.before ?? null };
}
