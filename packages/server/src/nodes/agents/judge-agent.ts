// Whether an agent belongs to this cluster. An agent of another cluster is refused before it is registered, and so is
// one that knows an entry which the log of this server does not hold: its work must not be ended by a server that has
// lost entries, or runs on a copy of the log that went its own way.

import {
  compareLogs,
  duration,
  judgeIdentity,
  LOG_START,
  type LogAnswer,
  type LogIndex,
  type LogPosition,
  logIndex,
  unchecked,
  type View,
} from "@lattice/core";
import type { pb } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import type { ForeignClusters } from "../../state/foreign-clusters.ts";
import type { MissingEntries } from "../../state/missing-entries.ts";

export interface AgentJudge {
  readonly view: () => View;
  /** The log that is applied here. Default: agents are believed to be behind. */
  readonly chain?: { at(index: number): LogAnswer; last(): LogPosition };
  readonly waitFor?: (index: LogIndex, signal: AbortSignal) => Promise<void>;
  /** Default: agents of other clusters are refused without a record. */
  readonly foreign?: ForeignClusters;
  /** Default: agents that know more than this server are refused without a record. */
  readonly missing?: Pick<MissingEntries, "known">;
  readonly clock: Clock;
}

interface Verdict {
  readonly code: string;
  readonly detail: string;
}

/** A leader may still be applying its log. */
const CATCH_UP_MS = 5_000;

/** Resolves to null when the agent may be registered. */
export async function judgeAgent(context: AgentJudge, hello: pb.Hello, gone: AbortSignal): Promise<Verdict | null> {
  const { clusterId, clusterGeneration, knownLog = LOG_START, nodeId } = hello;
  if (clusterId === "") return null;
  const { identity } = context.view();
  if (identity === null) return { code: "log_unavailable", detail: "the cluster of this server is not known yet" };
  const { kind } = judgeIdentity({ id: clusterId, generation: clusterGeneration }, identity);
  if (kind !== "same") {
    const detail =
      kind === "foreign"
        ? `node ${nodeId} belongs to cluster ${clusterId}, this server to cluster ${identity.id}; to move the node, stop its agent and give it an empty --data-dir`
        : `node ${nodeId} has seen a restore of this cluster that this server does not have`;
    const node = unchecked.node(nodeId);
    await context.foreign?.refused({ peer: "agent", subject: nodeId, cluster: clusterId, text: detail, node });
    return { code: "foreign_cluster", detail };
  }
  if (clusterId !== identity.id || clusterGeneration !== identity.generation) return null;
  const { index } = knownLog;
  if (await catchesUp(context, index, gone)) return compareWithOwn(context, hello, identity.id);
  if (!gone.aborted) context.missing?.known(nodeId, index);
  const detail = `node ${nodeId} knows entry ${index} of the log, this server only ${context.chain?.last().index ?? 0}`;
  return { code: "server_behind", detail };
}

async function compareWithOwn(
  { chain, foreign }: AgentJudge,
  hello: pb.Hello,
  cluster: string,
): Promise<Verdict | null> {
  const { knownLog = LOG_START, nodeId } = hello;
  if (chain === undefined || compareLogs(knownLog, chain.at(knownLog.index)) === "same") return null;
  const detail = `node ${nodeId} knows another entry ${knownLog.index} than the log of this server holds: one of the two is a copy of the log that went its own way`;
  await foreign?.refused({ peer: "agent", subject: nodeId, cluster, text: detail, node: unchecked.node(nodeId) });
  return { code: "server_log_differs", detail };
}

async function catchesUp(context: AgentJudge, known: number, gone: AbortSignal): Promise<boolean> {
  const { chain, waitFor, clock } = context;
  if (chain === undefined || waitFor === undefined || known <= chain.last().index) return true;
  const over = new AbortController();
  const end = (): void => over.abort();
  // Not AbortSignal.any: Node keeps such a signal, and what waits for it, until it aborts.
  gone.addEventListener("abort", end, { once: true });
  const cancel = clock.after(duration(CATCH_UP_MS), end);
  if (gone.aborted) end();
  try {
    await waitFor(logIndex(known), over.signal);
    return true;
  } catch {
    return false;
  } finally {
    cancel();
    gone.removeEventListener("abort", end);
  }
}
