// Elects a leader among candidates of one process, in order of arrival: a candidate leads until it resigns, is
// deposed or its handle closes; then the next one gets the next term. Engines that share a log between machines have
// their own election.

import type { Term } from "@lattice/core";
import { type Leadership, LogError } from "./replicated-log.ts";

const RETRY_MS = 250;

/** Identifies the handle of the log that campaigns. */
type Owner = object;

export interface Election {
  campaign(owner: Owner, candidate: string, signal: AbortSignal): Promise<Leadership>;
  holds(leadership: Leadership): boolean;
  leader(): { readonly candidate: string; readonly owner: Owner } | null;
  /** Ends the current leadership like the loss of a lease. */
  depose(): void;
  /** The owner has closed: its leadership ends and its campaigns are refused. */
  withdraw(owner: Owner): void;
}

interface CurrentLeader {
  readonly leadership: Leadership;
  readonly owner: Owner;
  readonly candidate: string;
  readonly end: AbortController;
}

interface Candidacy {
  readonly owner: Owner;
  readonly candidate: string;
  readonly signal: AbortSignal;
  win(leadership: Leadership): void;
  lose(cause: unknown): void;
}

interface ElectionOptions {
  /** Makes the next term durable before a candidate leads in it. */
  nextTerm(): Promise<Term>;
  /** Resolves when the writes of the last leader have ended. */
  settled(): Promise<void>;
}

export function createElection({ nextTerm, settled }: ElectionOptions): Election {
  const line: Candidacy[] = [];
  let current: CurrentLeader | null = null;
  let electing = false;

  const end = (over: CurrentLeader): void => {
    if (current !== over) return;
    current = null;
    over.end.abort(new LogError("lost_leadership", `the leadership of term ${over.leadership.term} is over`));
    void elect();
  };

  const crown = (next: Candidacy, term: Term): void => {
    const controller = new AbortController();
    const leadership: Leadership = {
      term,
      lost: controller.signal,
      resign: async () => {
        end(elected);
        await settled();
      },
    };
    const elected: CurrentLeader = { leadership, owner: next.owner, candidate: next.candidate, end: controller };
    current = elected;
    next.win(leadership);
  };

  const elect = async (): Promise<void> => {
    if (electing) return;
    electing = true;
    try {
      while (current === null && line.length > 0) {
        await settled();
        const next = line[0];
        if (next === undefined) break;
        const term = await nextTerm();
        if (line[0] !== next) continue;
        line.shift();
        crown(next, term);
      }
    } catch {
      // The term could not be made durable (a full disk): no candidate leads until it can.
      setTimeout(() => void elect(), RETRY_MS).unref();
    } finally {
      electing = false;
    }
  };

  const leave = (candidacy: Candidacy, cause: unknown): void => {
    const at = line.indexOf(candidacy);
    if (at < 0) return;
    line.splice(at, 1);
    candidacy.lose(cause);
  };

  return {
    campaign(owner, candidate, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      return new Promise((resolve, reject) => {
        const aborted = (): void => leave(candidacy, signal.reason);
        const candidacy: Candidacy = {
          owner,
          candidate,
          signal,
          win: (leadership) => {
            signal.removeEventListener("abort", aborted);
            resolve(leadership);
          },
          lose: (cause) => {
            signal.removeEventListener("abort", aborted);
            reject(cause);
          },
        };
        signal.addEventListener("abort", aborted);
        line.push(candidacy);
        void elect();
      });
    },
    holds: (leadership) => current !== null && current.leadership === leadership,
    leader: () => current,
    depose() {
      if (current !== null) end(current);
    },
    withdraw(owner) {
      for (const candidacy of [...line]) {
        if (candidacy.owner === owner) leave(candidacy, new LogError("closed", "the log is closed"));
      }
      if (current !== null && current.owner === owner) end(current);
    },
  };
}
