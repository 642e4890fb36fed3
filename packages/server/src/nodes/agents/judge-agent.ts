// Whether an agent belongs to this cluster. An agent of another cluster is refused before it is registered, and so is
// one that knows more of the log than this server: its work must not be ended by a server that has lost entries.

import { duration, judgeIdentity, type LogIndex, logIndex, unchecked, type View } from "@lattice/core";
import type { pb } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import type { ForeignClusters } from "../../state/foreign-clusters.ts";
import type { MissingEntries } from "../../state/missing-entries.ts";

export interface AgentJudge {
  readonly view: () => View;
  /** The last applied index. Default: agents are believed to be behind. */
  readonly appliedIndex?: () => LogIndex;
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
  const { clusterId, clusterGeneration, knownLogIndex, nodeId } = hello;
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
  if (await catchesUp(context, knownLogIndex, gone)) return null;
  if (!gone.aborted) context.missing?.known(nodeId, knownLogIndex);
  const detail = `node ${nodeId} knows entry ${knownLogIndex} of the log, this server only ${context.appliedIndex?.() ?? 0}`;
  return { code: "server_behind", detail };
}

async function catchesUp(context: AgentJudge, known: number, gone: AbortSignal): Promise<boolean> {
  const { appliedIndex, waitFor, clock } = context;
  if (appliedIndex === undefined || waitFor === undefined || known <= appliedIndex()) return true;
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
