// `lattice launch` in a job script is called on every node, since the script runs on every node. The
// calls belong together: the first call of each node, the second of each, and so on. The first node's
// call is the launch; the others wait for its end. Counted in memory, for the attempt's lifetime; after a change of leader the
// count goes on from the launches that are taken up, and from what callers say of themselves.

import type { Failure } from "./outcome.ts";

export interface Caller {
  /** Allocation and attempt. */
  readonly attempt: string;
  readonly node: string;
  readonly isFirst: boolean;
}

export interface Collective {
  /** The number that the next call of this node has. */
  next(caller: Caller): number;
  /** Counts a call; `ended` is told to all who wait for it. */
  lead(caller: Caller, ended: Promise<Failure | null>): void;
  /** Counts a call, or goes on with the one that has this number; resolves with how the launch of the first node has ended. */
  follow(caller: Caller, number: number | null): Promise<Failure | null>;
  /** A launch with this number was begun under another leader. */
  takeUp(attempt: string, first: string, number: number, ended: Promise<Failure | null>): void;
  /** The attempt is over. */
  forget(attempt: string): void;
  attempts(): readonly string[];
}

interface Rendezvous {
  readonly ended: Promise<Failure | null>;
  readonly begin: (ended: Promise<Failure | null>) => void;
}

interface Meeting {
  readonly counts: Map<string, number>;
  readonly places: Map<number, Rendezvous>;
  /** Where nodes begin that have not been heard of. */
  base: number;
}

export function collective(): Collective {
  const meetings = new Map<string, Meeting>();

  function meetingOf(attempt: string): Meeting {
    const meeting = meetings.get(attempt) ?? { counts: new Map(), places: new Map(), base: 0 };
    meetings.set(attempt, meeting);
    return meeting;
  }

  function placeOf(meeting: Meeting, number: number): Rendezvous {
    const place = meeting.places.get(number) ?? rendezvous();
    meeting.places.set(number, place);
    return place;
  }

  function count({ attempt, node }: Pick<Caller, "attempt" | "node">, known: number | null): Rendezvous {
    const meeting = meetingOf(attempt);
    const next = meeting.counts.get(node) ?? meeting.base;
    const number = known ?? next;
    meeting.counts.set(node, Math.max(next, number + 1));
    return placeOf(meeting, number);
  }

  return {
    next: ({ attempt, node }) => meetingOf(attempt).counts.get(node) ?? meetingOf(attempt).base,
    lead: (caller, ended) => count(caller, null).begin(ended),
    follow: (caller, number) => count(caller, number).ended,
    takeUp(attempt, first, number, ended) {
      const meeting = meetingOf(attempt);
      if (meeting.counts.size === 0) meeting.base = number;
      count({ attempt, node: first }, number).begin(ended);
    },
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
