// Measures one failover from outside: the time to the first accepted write and to the first placement of the new leader.
// Writes are tried on both survivors; placements come from the event stream of a survivor.
import { sleep } from "../../tests/harness/eventually.ts";
import type { Quorum } from "../../tests/harness/quorum.ts";
import { openEvents } from "../../tests/harness/sse.ts";

export interface Failover {
  readonly writesMs: number;
  /** After the first accepted write; 0 when the placement came before it. */
  readonly placementMs: number;
}

const TRY_EVERY_MS = 20;
const WITHIN_MS = 120_000;
const BODY = { entrypoint: "true", tenant: "default" };

export async function failover(quorum: Quorum, leader: number, strike: () => Promise<void>): Promise<Failover> {
  const survivors = [1, 2, 3].filter((n) => n !== leader);
  const watcher = survivors[0] ?? 1;
  const placements = watchPlacements(quorum.url(watcher));
  await placements.open;
  const struckAt = performance.now();
  await strike();
  const writtenAt = await firstOf(survivors.map((n) => firstWrite(quorum, n, struckAt)));
  const placedAt = await placements.firstAfter(struckAt + LAST_WORDS_MS);
  placements.close();
  return { writesMs: writtenAt - struckAt, placementMs: Math.max(0, placedAt - writtenAt) };
}

/** Events of the old leader's last commits may arrive this much later. */
const LAST_WORDS_MS = 200;

async function firstWrite(quorum: Quorum, n: number, from: number): Promise<number> {
  while (performance.now() < from + WITHIN_MS) {
    const taken = await quorum.submit(n, BODY).then(
      () => true,
      () => false,
    );
    if (taken) return performance.now();
    await sleep(TRY_EVERY_MS);
  }
  throw new Error(`no write was accepted within ${WITHIN_MS} ms`);
}

const firstOf = async (times: readonly Promise<number>[]): Promise<number> => Promise.race(times);

function watchPlacements(url: string) {
  const seen: number[] = [];
  let closed = false;
  const opening = openEvents(`${url}/api/v1/events?kinds=allocation_changed`);
  const reading = (async () => {
    const events = await opening;
    while (!closed) {
      const event = await events.next(WITHIN_MS);
      if (event.data.to === "staging") seen.push(performance.now());
    }
    events.close();
  })();
  reading.catch(() => {});
  return {
    open: opening,
    async firstAfter(at: number): Promise<number> {
      for (const end = performance.now() + WITHIN_MS; performance.now() < end; await sleep(TRY_EVERY_MS)) {
        const found = seen.find((time) => time > at);
        if (found !== undefined) return found;
      }
      throw new Error(`nothing was placed within ${WITHIN_MS} ms`);
    },
    close() {
      closed = true;
      void opening.then((events) => events.close());
    },
  };
}
