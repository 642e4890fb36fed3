// Bytes that pass through the agent leave dead buffers, and Node collects young objects only after 32 MB of them.
// Callers report the bytes they pass on, and every few megabytes a minor collection runs, which takes half a
// millisecond.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Each byte of output is copied three times: into a read buffer, a message and a frame. */
const COLLECT_EVERY_BYTES = 2 * 1024 ** 2;

let passed = 0;
let collect: (() => void) | null = null;

export function passedOn(bytes: number): void {
  passed += bytes;
  if (passed < COLLECT_EVERY_BYTES) return;
  passed = 0;
  collect ??= collector();
  collect();
}

/** Does nothing where Node does not support it. */
function collector(): () => void {
  try {
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc") as (how: { readonly type: "minor" }) => void;
    return () => gc({ type: "minor" });
  } catch {
    return () => undefined;
  }
}
