// The used heap after a garbage collection.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

export function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
