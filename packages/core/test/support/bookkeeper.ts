// A second, slower set of books: it writes down every attempt that ran, from the records before and
// after each entry, and counts the whole list again whenever it is asked.

import {
  type Allocation,
  type AllocationId,
  type Amount,
  amountOf,
  beginOf,
  dayOf,
  type Holder,
  instant,
  isPlaced,
  NO_USE,
  plus,
  type State,
  type Window,
} from "@lattice/core";

interface Run {
  readonly tenant: string;
  readonly user: string;
  readonly start: number;
  /** `null` while it runs. */
  readonly end: number | null;
  readonly nodes: number;
  readonly gpus: number;
}

export interface Bookkeeper {
  /** To be called after every entry. */
  look(): void;
  days(holder: Holder, window: Window): readonly Amount[];
  /** Over all ended attempts. */
  total(): Amount;
  readonly ended: number;
}

export function createBookkeeper(state: State): Bookkeeper {
  const ended: Run[] = [];
  let before = new Map<AllocationId, Allocation>();

  const runOf = (record: Allocation, end: number | null): Run | null => {
    const { phase } = record;
    if (!isPlaced(phase) || phase.kind === "staging") return null;
    const gpus = phase.nodes.reduce((sum, node) => sum + (state.node(node)?.capabilities.gpuCount ?? 1), 0);
    const { tenant } = record.spec;
    const start = (phase.kind === "running" ? phase.countedFrom : undefined) ?? phase.startedAt;
    const { share } = record;
    const part =
      share === undefined ? { nodes: phase.nodes.length, gpus } : { nodes: share.part / 1024, gpus: share.gpuCount };
    return { tenant, user: record.user, start, end, ...part };
  };

  return {
    look() {
      for (const [id, record] of before) {
        const now = state.allocation(id);
        const goesOn =
          now !== undefined && isPlaced(now.phase) && now.attempt === record.attempt && sameNodes(now, record);
        const run = goesOn ? null : runOf(record, state.at);
        if (run !== null) ended.push(run);
      }
      before = new Map(Array.from(state.allocations(), (record) => [record.id, record]));
    },
    days({ tenant, user }, { from, to, now }) {
      const running = Array.from(state.allocations()).flatMap((record) => runOf(record, null) ?? []);
      const runs = [...ended, ...running].filter(
        (run) => (tenant === undefined || run.tenant === tenant) && (user === undefined || run.user === user),
      );
      const days: Amount[] = [];
      for (let day = from; day <= to; day += 1) {
        let nodeMs = 0;
        let gpuMs = 0;
        for (const run of runs) {
          const ms = Math.max(0, Math.min(run.end ?? now, beginOf(day + 1)) - Math.max(run.start, beginOf(day)));
          // Charged in whole milliseconds; a part of one is left out.
          nodeMs += run.end === null ? run.nodes * ms : Math.floor(run.nodes * ms);
          gpuMs += run.gpus * ms;
        }
        days.push({ nodeMs, gpuMs });
      }
      return days;
    },
    total() {
      return ended.flatMap(piecesByDay).reduce(plus, NO_USE);
    },
    get ended() {
      return ended.length;
    },
  };
}

/** A share is charged in whole milliseconds of each day. */
function piecesByDay({ start, end, nodes, gpus }: Run): Amount[] {
  const pieces: Amount[] = [];
  for (let at = start; at < (end ?? start); at = Math.min(end ?? at, beginOf(dayOf(instant(at)) + 1))) {
    const ms = Math.min(end ?? at, beginOf(dayOf(instant(at)) + 1)) - at;
    pieces.push(amountOf({ nodes, gpus }, ms));
  }
  return pieces;
}

const sameNodes = ({ phase: a }: Allocation, { phase: b }: Allocation): boolean =>
  "nodes" in a && "nodes" in b && a.nodes.join() === b.nodes.join();
