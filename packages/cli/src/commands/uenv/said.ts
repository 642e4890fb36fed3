// What a command said while an image was tried, each stream to its own: an image that does not work is understood by that.
// Where it cannot be read, the verdict still stands, and its hint says how to ask again.

import type { LatticeClient } from "@lattice/sdk";
import { writeBytes } from "../../output/write-bytes.ts";

/** Of each stream; a test that says more is read with `lattice logs`. */
const MOST_BYTES = 1024 ** 2;

export async function passOnWhatItSaid(client: LatticeClient, id: string): Promise<void> {
  for (const stream of ["stdout", "stderr"] as const) {
    await writeBytes(client.logs(id, { stream, limit: MOST_BYTES }), process[stream]).catch(() => undefined);
  }
}
