// Waits until an allocation has ended: by events, with a look at the record whenever the stream
// opens, so that a change between two calls is not missed, and again after a gap in the events.

import { type Allocation, isCursorGone, type LatticeClient, sleep, type WatchEvent } from "@lattice/sdk";

export interface UntilFinalOptions {
  readonly signal?: AbortSignal | undefined;
  /** Kinds of events to be told about; all when absent. */
  readonly kinds?: readonly string[];
  readonly onEvent?: (event: WatchEvent) => Promise<void> | void;
}

const FINAL = new Set<string>(["completed", "failed", "cancelled"]);
/** Between two looks when the events come to an end without the allocation doing so. */
const LOOK_AGAIN_MS = 500;

export const hasEnded = (allocation: Allocation): boolean => FINAL.has(allocation.state);

export async function untilFinal(
  client: LatticeClient,
  id: string,
  options: UntilFinalOptions = {},
): Promise<Allocation> {
  for (;;) {
    await followEvents(client, id, options);
    const allocation = await client.get(id, { signal: options.signal });
    if (hasEnded(allocation)) return allocation;
    await sleep(LOOK_AGAIN_MS, options.signal);
  }
}

async function followEvents(client: LatticeClient, id: string, options: UntilFinalOptions): Promise<void> {
  const { signal, kinds, onEvent } = options;
  const stop = new AbortController();
  const all = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
  const onOpen = () => {
    client.get(id, { signal: all }).then(
      (allocation) => {
        if (hasEnded(allocation)) stop.abort();
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
    }
  } catch (error) {
    if (!isCursorGone(error)) throw error;
  } finally {
    stop.abort();
  }
}
