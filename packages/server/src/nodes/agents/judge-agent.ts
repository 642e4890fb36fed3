// Whether an agent belongs to this cluster. An agent of another cluster is refused before it is registered, and so is
// one that knows more of the log than this server: its work must not be ended by a server that has lost entries.

import {
  duration,
  judgeIdentity,
  type LogIndex,
  logIndex,
  noticeKey,
  type RaiseNoticeCommand,
  unchecked,
  type View,
} from "@lattice/core";
import type { pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { Clock } from "../../base/clock.ts";

export interface AgentJudge {
  readonly view: () => View;
  /** The last applied index. Default: agents are believed to be behind. */
  readonly appliedIndex?: () => LogIndex;
  readonly waitFor?: (index: LogIndex, signal: AbortSignal) => Promise<void>;
  /** An agent of another cluster was refused. */
  readonly foreignRefused?: () => void;
  readonly propose: (command: RaiseNoticeCommand) => Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
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
    context.foreignRefused?.();
    const detail =
      kind === "foreign"
        ? `node ${nodeId} belongs to cluster ${clusterId}, this server to cluster ${identity.id}; to move the node, stop its agent and give it an empty --data-dir`
        : `node ${nodeId} has seen a restore of this cluster that this server does not have`;
    context.logger.error({ node: nodeId, cluster: clusterId, own: identity.id }, "agent of another cluster refused");
    await raiseNotice(context, nodeId, detail);
    return { code: "foreign_cluster", detail };
  }
  if (clusterId !== identity.id || clusterGeneration !== identity.generation) return null;
  return (await catchesUp(context, knownLogIndex, gone))
    ? null
    : {
        code: "server_behind",
        detail: `node ${nodeId} knows entry ${knownLogIndex} of the log, this server only ${context.appliedIndex?.() ?? 0}`,
      };
}

async function catchesUp(context: AgentJudge, known: number, gone: AbortSignal): Promise<boolean> {
  const { appliedIndex, waitFor, clock } = context;
  if (appliedIndex === undefined || waitFor === undefined || known <= appliedIndex()) return true;
  const late = new AbortController();
  const cancel = clock.after(duration(CATCH_UP_MS), () => late.abort());
  try {
    await waitFor(logIndex(known), AbortSignal.any([gone, late.signal]));
    return true;
  } catch {
    return false;
  } finally {
    cancel();
  }
}

/** Raised once for each node; an administrator clears the cause. */
async function raiseNotice({ view, propose, logger }: AgentJudge, nodeId: string, text: string): Promise<void> {
  const key = noticeKey("foreign_cluster", nodeId);
  const known = view().notice(key);
  if (known !== undefined && known.clearedAt === undefined) return;
  const notice = {
    key,
    kind: "foreign_cluster",
    text,
    tenant: null,
    user: null,
    node: unchecked.node(nodeId),
  } as const;
  await propose({ kind: "notice.raise", notice }).catch((error: unknown) =>
    logger.warn({ err: error, node: nodeId }, "notice of a foreign agent not recorded"),
  );
}
