// What is in use once everything that nobody holds is gone.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

export function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
