// The record of actual runs: every job writes a line at its start and one after its work, and in between its process is sampled.
// Nothing here asks Lattice.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "../../harness/eventually.ts";
import { isAlive } from "../../harness/processes.ts";
import type { ProcessRun } from "../history.ts";

export interface Ledger {
  /** A shell script that writes its lines to the ledger and runs this long. */
  script(seconds: number): string;
  runs(): readonly ProcessRun[];
  /** The process of an attempt on a node, while it lives. */
  living(): readonly (ProcessRun & { readonly pid: number })[];
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 100;

export function openLedger(folder: string): Ledger {
  mkdirSync(folder, { recursive: true });
  const runs = new Map<string, Seen>();
  let stop = false;

  const look = (): void => {
    for (const name of readdirSync(folder)) {
      for (const line of readFileSync(join(folder, name), "utf8").split("\n")) note(line);
    }
    const now = Date.now();
    for (const run of runs.values()) {
      if (run.over) continue;
      if (isAlive(run.pid)) run.aliveUntil = now;
      else run.over = true;
    }
  };

  /** The file of a node is read as a whole each time: it has a few hundred lines. */
  const note = (line: string): void => {
    const [what, allocation = "", attempt = "", node = "", tenant = "", pid = "", at = ""] = line.split(" ");
    const key = `${allocation}.${attempt}.${node}.${pid}`;
    const known = runs.get(key);
    if (what === "start" && known === undefined) {
      const started = { allocation, attempt: Number(attempt), node, tenant, startedAt: Number(at) };
      runs.set(key, { ...started, aliveUntil: Number(at), finished: false, pid: Number(pid), over: false });
    }
    if (what !== "end" || known === undefined || known.finished) return;
    known.finished = true;
    known.over = true;
    known.aliveUntil = Number(at);
  };

  const looking = (async () => {
    while (!stop) {
      look();
      await sleep(LOOK_EVERY_MS);
    }
  })();

  return {
    script: (seconds) =>
      [
        `me="$LATTICE_ALLOC_ID $LATTICE_ATTEMPT $LATTICE_NODE $LATTICE_TENANT $$"`,
        `echo "start $me $(date +%s%3N)" >> ${folder}/$LATTICE_NODE`,
        `sleep ${seconds}`,
        `echo "end $me $(date +%s%3N)" >> ${folder}/$LATTICE_NODE`,
      ].join("\n"),
    runs: () => {
      look();
      return [...runs.values()];
    },
    living: () => {
      look();
      return [...runs.values()].filter(({ over }) => !over);
    },
    async close() {
      stop = true;
      await looking;
    },
  };
}

interface Seen extends ProcessRun {
  readonly pid: number;
  aliveUntil: number;
  finished: boolean;
  /** Ended, by its own record or by being gone. */
  over: boolean;
}
