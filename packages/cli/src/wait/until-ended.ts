// Waits until an allocation has ended or, with `orSuspended`, until it needs `lattice resume` to continue. It follows
// events and reads the record whenever the stream opens, so that a change between two calls or in a gap is not missed.

import { type Allocation, isCursorGone, type LatticeClient, sleep, type WatchEvent } from "@lattice/sdk";

interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Kinds of events passed to `onEvent`. Default: all. */
  readonly kinds?: readonly string[];
  /** Also stop when the allocation is suspended until a user resumes it. */
  readonly orSuspended?: boolean;
  readonly onEvent?: (event: WatchEvent) => Promise<void> | void;
}

const FINAL = new Set<string>(["completed", "failed", "cancelled"]);
/** Pause before reconnecting when the event stream ends before the allocation does. */
const RECONNECT_PAUSE_MS = 500;

/** A task group has no event for the suspension of an element, so its record is polled. */
const GROUP_POLL_MS = 5_000;

export const hasEnded = (allocation: Allocation): boolean => FINAL.has(allocation.state);

/** Exit status of a wait that ends at a suspended allocation: EX_TEMPFAIL of sysexits.h. */
export const EXIT_SUSPENDED = 75;

/** Whether only a user can continue it: suspended at its walltime. Other suspensions are requeued automatically. */
export function needsResume({ state, reason, group }: Pick<Allocation, "state" | "reason" | "group">): boolean {
  if (group === undefined) return state === "suspended" && reason === "walltime";
  return !FINAL.has(state) && (group.suspended ?? 0) > 0 && (group.running ?? 0) + (group.pending ?? 0) === 0;
}

export async function waitUntilEnded(
  client: LatticeClient,
  id: string,
  options: WaitOptions = {},
): Promise<Allocation> {
  for (;;) {
    await followEvents(client, id, options);
    const allocation = await client.get(id, { signal: options.signal });
    if (isDone(allocation, options)) return allocation;
    await sleep(RECONNECT_PAUSE_MS, options.signal);
  }
}

async function followEvents(client: LatticeClient, id: string, options: WaitOptions): Promise<void> {
  const { signal, kinds, orSuspended: orAtRest, onEvent } = options;
  const stop = new AbortController();
  const all = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
  let again: NodeJS.Timeout | undefined;
  const onOpen = () => {
    clearTimeout(again);
    client.get(id, { signal: all }).then(
      (allocation) => {
        if (isDone(allocation, options)) stop.abort();
        else if (orAtRest === true && allocation.group !== undefined) again = setTimeout(onOpen, GROUP_POLL_MS);
      },
      // The caller reads the record itself after the stream has ended.
      () => stop.abort(),
    );
  };
  const filter = { allocation_id: id, ...(kinds === undefined ? {} : { kinds }) };
  try {
    for await (const event of client.watch(filter, { signal: all, onOpen })) {
      await onEvent?.(event);
      if (event.kind === "allocation_changed" && FINAL.has(event.to ?? "")) return;
      if (orAtRest === true && event.to === "suspended") return;
    }
  } catch (error) {
    if (!isCursorGone(error)) throw error;
  } finally {
    clearTimeout(again);
    stop.abort();
  }
}

const isDone = (allocation: Allocation, { orSuspended: orAtRest }: WaitOptions): boolean =>
  hasEnded(allocation) || (orAtRest === true && needsResume(allocation));
