// Waits until an allocation has ended, or on request until nothing of it goes on any more that is not to be resumed by somebody: by
// events, with a look at the record whenever the stream opens, so that a change between two calls is not missed, and again
// after a gap in the events.

import { type Allocation, isCursorGone, type LatticeClient, sleep, type WatchEvent } from "@lattice/sdk";

export interface UntilFinalOptions {
  readonly signal?: AbortSignal | undefined;
  /** Kinds of events to be told about; all when absent. */
  readonly kinds?: readonly string[];
  /** Also over when it is suspended for good; absent: only when it has ended. */
  readonly orAtRest?: boolean;
  readonly onEvent?: (event: WatchEvent) => Promise<void> | void;
}

const FINAL = new Set<string>(["completed", "failed", "cancelled"]);
/** Between two looks when the events come to an end without the allocation doing so. */
const LOOK_AGAIN_MS = 500;

/** Elements of a group are suspended without an event of the group. */
const LOOK_AT_GROUP_MS = 5_000;

export const hasEnded = (allocation: Allocation): boolean => FINAL.has(allocation.state);

/** The exit status of who waited for what is to be resumed: "temporary failure" in sysexits.h. */
export const AT_REST = 75;

/** Its walltime was over when its checkpoint was complete; for other causes it is queued again by itself. */
export function isAtRest({ state, reason, group }: Pick<Allocation, "state" | "reason" | "group">): boolean {
  if (group === undefined) return state === "suspended" && reason === "walltime";
  return !FINAL.has(state) && (group.suspended ?? 0) > 0 && (group.running ?? 0) + (group.pending ?? 0) === 0;
}

export async function untilFinal(
  client: LatticeClient,
  id: string,
  options: UntilFinalOptions = {},
): Promise<Allocation> {
  for (;;) {
    await followEvents(client, id, options);
    const allocation = await client.get(id, { signal: options.signal });
    if (isOver(allocation, options)) return allocation;
    await sleep(LOOK_AGAIN_MS, options.signal);
  }
}

async function followEvents(client: LatticeClient, id: string, options: UntilFinalOptions): Promise<void> {
  const { signal, kinds, orAtRest, onEvent } = options;
  const stop = new AbortController();
  const all = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
  let again: NodeJS.Timeout | undefined;
  const onOpen = () => {
    clearTimeout(again);
    client.get(id, { signal: all }).then(
      (allocation) => {
        if (isOver(allocation, options)) stop.abort();
        else if (orAtRest === true && allocation.group !== undefined) again = setTimeout(onOpen, LOOK_AT_GROUP_MS);
      },
      // The caller looks at the record itself once the events have ended.
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

const isOver = (allocation: Allocation, { orAtRest }: UntilFinalOptions): boolean =>
  hasEnded(allocation) || (orAtRest === true && isAtRest(allocation));
