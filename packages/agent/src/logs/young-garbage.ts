// Bytes that pass through the agent leave buffers behind, and Node lets 32 MB of dead ones gather before it looks at its
// young objects, however small the agent is otherwise. Whoever passes bytes on says so here, and every few megabytes the
// young objects are collected, which takes half a millisecond.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Each byte of output is copied three times on its way: read, made a message, made a frame. */
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

/** Does nothing where Node does not offer it. */
function collector(): () => void {
  try {
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc") as (how: { readonly type: "minor" }) => void;
    return () => gc({ type: "minor" });
  } catch {
    return () => undefined;
  }
}
