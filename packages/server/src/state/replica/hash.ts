// The hash function of the state and of the chain of log entries. One call without a hash object: a restore hashes every
// record of the state, and an object for each would double the cost.

import { hash } from "node:crypto";

export const sha256 = (data: string | Uint8Array): string => hash("sha256", data, "hex");
