// The hash function handed to the pure core, and the one that chains log entries. In one call: the
// records of a whole state pass here when it is restored, and an object for each would cost as much again.

import { hash } from "node:crypto";

export const sha256 = (data: string | Uint8Array): string => hash("sha256", data, "hex");
