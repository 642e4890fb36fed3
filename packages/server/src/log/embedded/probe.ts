// Finds out that a disk takes writes again. A server that answers 503 while its log cannot be
// written may never append again by itself, so somebody has to look: this writes and syncs a small
// file at intervals until that works.

import { join } from "node:path";
import { type Files, writeFully } from "./files.ts";

const EVERY_MS = 1000;
/** As much as a usual batch, so that a disk with a few bytes left does not pass. */
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
  const look = async (): Promise<void> => {
    const writable = await attempt(() => writeProbe(files, dir)).catch(() => false);
    if (timer === null) return;
    if (writable) timer = null;
    else timer = setTimeout(() => void look(), EVERY_MS).unref();
  };
  return {
    start() {
      timer ??= setTimeout(() => void look(), EVERY_MS).unref();
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
