// Host lists of placed work, where the order of the nodes is that of the ranks.

import { compressHosts, expandHostlist } from "./hostlist.ts";

/** Returns the names as a host list in their order; it is not compressed where that would change the order. */
export function hostlistOf(names: readonly string[]): string {
  const short = compressHosts(names);
  const restored = expandHostlist(short) ?? [];
  return restored.length === names.length && restored.every((name, n) => name === names[n]) ? short : names.join(",");
}
