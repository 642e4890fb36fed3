// Records that an agent or a server of another cluster was met and refused: a log line, a counter, and a notice for the
// administrators. The other side tries again and again, so the notice is proposed at most once a minute for each.

import { type NodeId, noticeKey, type RaiseNoticeCommand, type View } from "@lattice/core";
import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";

/** Shorter than the silence after which the notice is cleared. */
export const OBSERVE_EVERY_MS = 60_000;
/** Subjects that are remembered; beyond it a subject is reported again too soon. */
const MAX_SUBJECTS = 1_000;

export interface ForeignClusters {
  /** Never rejects, and resolves when the notice is raised or could not be. */
  refused(met: ForeignParty): Promise<void>;
}

export interface ForeignParty {
  readonly peer: "agent" | "server";
  /** The node, or the address of the server. */
  readonly subject: string;
  readonly cluster: string;
  /** A sentence about the refusal, for the operator. */
  readonly text: string;
  readonly node?: NodeId;
}

interface Options {
  readonly view: () => Pick<View, "identity">;
  readonly propose: (command: RaiseNoticeCommand) => Promise<unknown>;
  readonly counted: (peer: ForeignParty["peer"]) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createForeignClusters({ view, propose, counted, clock, logger }: Options): ForeignClusters {
  const observedAt = new Map<string, number>();
  return {
    async refused({ peer, subject, cluster, text, node }) {
      counted(peer);
      logger.error({ peer, subject, cluster, own: view().identity?.id ?? "", detail: text }, "another cluster refused");
      const now = clock.worked();
      const key = noticeKey("foreign_cluster", peer === "agent" ? subject : `server ${subject}`);
      if (now - (observedAt.get(key) ?? Number.NEGATIVE_INFINITY) < OBSERVE_EVERY_MS) return;
      observedAt.delete(key);
      observedAt.set(key, now);
      const [oldest] = observedAt.keys();
      if (observedAt.size > MAX_SUBJECTS && oldest !== undefined) observedAt.delete(oldest);
      const about = node === undefined ? {} : { node };
      const notice = { key, kind: "foreign_cluster", text, tenant: null, user: null, ...about } as const;
      await propose({ kind: "notice.raise", notice }).catch((error: unknown) => {
        observedAt.delete(key);
        logger.warn({ err: error, subject }, "notice of another cluster not recorded");
      });
    },
  };
}
