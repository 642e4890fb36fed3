// Whether the memory of a GPU must be zeroed before somebody gets it. It must unless nobody has used it since it was last
// zeroed, or whoever used it gets it again: nobody learns anything from what is their own. Users are told apart within
// their tenant, and sensitive work is never left lying, whoever comes next.

import type { Order } from "../lifecycle/attempt.ts";

export interface GpuUser {
  readonly tenant: string;
  readonly user: string;
  readonly sensitive: boolean;
}

/** Who had it last. "clean": nobody since it was zeroed. "unknown": what is written of it cannot be read. */
export type LastUser = GpuUser | "clean" | "unknown";

export function mustClear(last: LastUser, next: GpuUser): boolean {
  if (last === "clean") return false;
  if (last === "unknown" || last.sensitive || next.sensitive) return true;
  return last.tenant !== next.tenant || last.user !== next.user;
}

/** Work that is kept to itself by the network is so in memory too. */
export const gpuUserOf = ({ tenant, user, network }: Order): GpuUser => ({
  ...{ tenant, user },
  sensitive: network?.sensitive === true,
});
