// `lattice launch` in a job script is called on every node, since the script runs on every node. The
// calls belong together: the first call of each node, the second of each, and so on. The first node's
// call is the launch; the others wait for its end. Counted in memory, for the attempt's lifetime.

import type { Failure } from "./outcome.ts";

export interface Caller {
  /** Allocation and attempt. */
  readonly attempt: string;
  readonly node: string;
  readonly isFirst: boolean;
}

export interface Collective {
  /** Counts a call of the first node; `ended` is told to all who wait for it. */
  lead(caller: Caller, ended: Promise<Failure | null>): void;
  /** Resolves with how the launch of the first node with the same count has ended. */
  follow(caller: Caller): Promise<Failure | null>;
  /** The attempt is over. */
  forget(attempt: string): void;
  attempts(): readonly string[];
}

interface Rendezvous {
  readonly ended: Promise<Failure | null>;
  readonly begin: (ended: Promise<Failure | null>) => void;
}

export function collective(): Collective {
  const meetings = new Map<string, { readonly counts: Map<string, number>; readonly places: Rendezvous[] }>();

  function place({ attempt, node }: Caller): Rendezvous {
    const meeting = meetings.get(attempt) ?? { counts: new Map<string, number>(), places: [] };
    meetings.set(attempt, meeting);
    const count = meeting.counts.get(node) ?? 0;
    meeting.counts.set(node, count + 1);
    const known = meeting.places[count] ?? rendezvous();
    meeting.places[count] = known;
    return known;
  }

  return {
    lead: (caller, ended) => place(caller).begin(ended),
    follow: (caller) => place(caller).ended,
    forget: (attempt) => void meetings.delete(attempt),
    attempts: () => [...meetings.keys()],
  };
}

function rendezvous(): Rendezvous {
  let begin: (ended: Promise<Failure | null>) => void = () => undefined;
  const ended = new Promise<Failure | null>((resolve) => {
    begin = resolve;
  });
  return { ended, begin };
}
