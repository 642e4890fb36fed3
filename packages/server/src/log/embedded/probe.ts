// Detects that a disk accepts writes again. A server that answers 503 while its log is not writable would never
// append again by itself, so the probe writes and syncs a small file at intervals until that succeeds.

import { join } from "node:path";
import { type Files, writeFully } from "./files.ts";

const EVERY_MS = 1000;
/** The size of a usual batch, so that a disk with a few free bytes does not pass. */
const PROBE_BYTES = 128 * 1024;

export interface Probe {
  start(): void;
  stop(): void;
}

export function createProbe(
  files: Files,
  dir: string,
  attempt: (probe: () => Promise<void>) => Promise<boolean>,
): Probe {
  let timer: NodeJS.Timeout | null = null;
  const probe = async (): Promise<void> => {
    const writable = await attempt(() => writeProbe(files, dir)).catch(() => false);
    if (timer === null) return;
    if (writable) timer = null;
    else timer = setTimeout(() => void probe(), EVERY_MS).unref();
  };
  return {
    start() {
      timer ??= setTimeout(() => void probe(), EVERY_MS).unref();
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}

async function writeProbe(files: Files, dir: string): Promise<void> {
  const path = join(dir, "probe.tmp");
  try {
    const file = await files.open(path, "create");
    try {
      await writeFully(file, Buffer.alloc(PROBE_BYTES, 1), 0);
      await file.datasync();
    } finally {
      await file.close();
    }
  } finally {
    await files.remove(path);
  }
}
