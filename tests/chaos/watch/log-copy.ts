// A copy of the whole log, taken from etcd while it grows: the servers drop entries before a snapshot, and the check
// needs all of them. It reads with etcd's own tool and decodes independently of the engine under test.
import { sleep } from "../../harness/eventually.ts";
import { range } from "../environment/etcd.ts";
import type { Machine } from "../environment/network.ts";
import type { LogEntry } from "../history.ts";
import { entriesOf } from "./log-record.ts";

export interface LogCopy {
  entries(): readonly LogEntry[];
  /** Reads until there is nothing new. */
  catchUp(): Promise<void>;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 700;
const KEYS_PER_LOOK = 200;
const DIGITS = 16;

export function copyLog(machines: readonly Machine[], prefix: string): LogCopy {
  const entries: LogEntry[] = [];
  let stop = false;
  let turn = 0;

  const look = async (): Promise<number> => {
    const machine = machines[turn % machines.length];
    if (machine === undefined) return 0;
    const from = `${prefix}/log/${String(entries.length + 1).padStart(DIGITS, "0")}`;
    // "0" is the character after the slash.
    const found = await range(machine, { from, to: `${prefix}/log0`, limit: KEYS_PER_LOOK }).catch(() => null);
    if (found === null) {
      turn += 1;
      return 0;
    }
    let added = 0;
    for (const { value } of found) {
      for (const entry of entriesOf(value)) {
        if (entry.index <= entries.length) continue;
        entries.push(entry);
        added += 1;
      }
    }
    return added;
  };

  const looking = (async () => {
    while (!stop) {
      await look();
      await sleep(LOOK_EVERY_MS);
    }
  })();

  return {
    entries: () => entries,
    async catchUp() {
      for (let quiet = 0; quiet < machines.length; ) {
        if ((await look()) > 0) quiet = 0;
        else {
          quiet += 1;
          turn += 1;
        }
      }
    },
    async close() {
      stop = true;
      await looking;
    },
  };
}
