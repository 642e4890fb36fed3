// One timer for all heartbeats of a process: each member is called once per interval, and members are spread over the
// interval, so that ten thousand hollow nodes cause a steady load.

export interface HeartbeatTimer {
  /** The first call comes at a random point of the first interval. Returns a function that leaves. */
  join(intervalMs: number, beat: () => void): () => void;
  close(): void;
}

/** A smaller value causes more wake-ups, a larger one larger bursts. */
const TICK_MS = 50;

export function heartbeatTimer(random: () => number): HeartbeatTimer {
  interface Member {
    readonly everyTicks: number;
    readonly beat: () => void;
  }
  const due = new Map<number, Set<Member>>();
  let members = 0;
  let tick = 0;
  let timer: NodeJS.Timeout | null = null;
  let lastAtMs = 0;

  function put(member: Member, atTick: number): void {
    const slot = due.get(atTick);
    if (slot === undefined) due.set(atTick, new Set([member]));
    else slot.add(member);
  }

  function turn(): void {
    // A late timer catches up on missed ticks, so that no heartbeat is skipped.
    const now = performance.now();
    const ticks = Math.max(1, Math.floor((now - lastAtMs) / TICK_MS));
    lastAtMs += ticks * TICK_MS;
    for (let n = 0; n < ticks; n++) {
      tick += 1;
      const slot = due.get(tick);
      if (slot === undefined) continue;
      due.delete(tick);
      for (const member of slot) {
        put(member, tick + member.everyTicks);
        member.beat();
      }
    }
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  return {
    join(intervalMs, beat) {
      const everyTicks = Math.max(1, Math.round(intervalMs / TICK_MS));
      const member: Member = { everyTicks, beat };
      put(member, tick + 1 + Math.floor(random() * everyTicks));
      members += 1;
      if (timer === null) {
        lastAtMs = performance.now();
        timer = setInterval(turn, TICK_MS);
      }
      return () => {
        for (const slot of due.values()) {
          if (!slot.delete(member)) continue;
          members -= 1;
          break;
        }
        if (members === 0) stop();
      };
    },
    close() {
      due.clear();
      members = 0;
      stop();
    },
  };
}
