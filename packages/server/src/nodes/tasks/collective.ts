// `lattice launch` in a job script runs on every node, because the script does. The calls belong together: the first call of each
// node, the second of each, and so on. The call of the first node is the launch; the others wait for its end. The counts are kept
// in memory for the lifetime of the attempt. After a change of leader they continue from adopted launches and from the
// numbers that callers send.

import type { ScriptCaller } from "./lookup.ts";
import type { LaunchFailure } from "./outcome.ts";

export interface CollectiveCalls {
  /** Returns the number of this node's next call. */
  next(caller: ScriptCaller): number;
  /** Counts a call of the first node; `ended` is the outcome for all that follow it. */
  lead(caller: ScriptCaller, ended: Promise<LaunchFailure | null>): void;
  /** Counts a call, or continues the one with this number; resolves with the outcome of the first node's launch. */
  follow(caller: ScriptCaller, number: number | null): Promise<LaunchFailure | null>;
  /** Registers a launch that was started under another leader. */
  adopt(attempt: string, first: string, number: number, ended: Promise<LaunchFailure | null>): void;
  /** The attempt is over. */
  forget(attempt: string): void;
  attempts(): readonly string[];
}

interface Rendezvous {
  readonly ended: Promise<LaunchFailure | null>;
  readonly start: (ended: Promise<LaunchFailure | null>) => void;
}

interface AttemptCalls {
  readonly counts: Map<string, number>;
  readonly calls: Map<number, Rendezvous>;
  /** The first number of nodes that have not called yet. */
  base: number;
}

export function createCollectiveCalls(): CollectiveCalls {
  const attempts = new Map<string, AttemptCalls>();

  function callsOf(attempt: string): AttemptCalls {
    const calls = attempts.get(attempt) ?? { counts: new Map(), calls: new Map(), base: 0 };
    attempts.set(attempt, calls);
    return calls;
  }

  function rendezvousAt(calls: AttemptCalls, number: number): Rendezvous {
    const found = calls.calls.get(number) ?? rendezvous();
    calls.calls.set(number, found);
    return found;
  }

  function count({ attempt, node }: Pick<ScriptCaller, "attempt" | "node">, known: number | null): Rendezvous {
    const calls = callsOf(attempt);
    const next = calls.counts.get(node) ?? calls.base;
    const number = known ?? next;
    calls.counts.set(node, Math.max(next, number + 1));
    return rendezvousAt(calls, number);
  }

  return {
    next: ({ attempt, node }) => callsOf(attempt).counts.get(node) ?? callsOf(attempt).base,
    lead: (caller, ended) => count(caller, null).start(ended),
    follow: (caller, number) => count(caller, number).ended,
    adopt(attempt, first, number, ended) {
      const calls = callsOf(attempt);
      if (calls.counts.size === 0) calls.base = number;
      count({ attempt, node: first }, number).start(ended);
    },
    forget: (attempt) => void attempts.delete(attempt),
    attempts: () => [...attempts.keys()],
  };
}

function rendezvous(): Rendezvous {
  let start: (ended: Promise<LaunchFailure | null>) => void = () => undefined;
  const ended = new Promise<LaunchFailure | null>((resolve) => {
    start = resolve;
  });
  return { ended, start };
}
