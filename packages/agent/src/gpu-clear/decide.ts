// Decides whether the memory of a GPU must be zeroed before its next user. It must, unless the GPU is unused since it
// was last zeroed or the same user gets it again. Users are distinguished within their tenant, and the memory of
// sensitive work is always zeroed.

import type { pb } from "@lattice/wire";

export interface GpuUser {
  readonly tenant: string;
  readonly user: string;
  readonly sensitive: boolean;
}

/** The last user. "clean": unused since it was zeroed. "unknown": the record is unreadable. */
export type LastUser = GpuUser | "clean" | "unknown";

export function mustClear(last: LastUser, next: GpuUser): boolean {
  if (last === "clean") return false;
  if (last === "unknown" || last.sensitive || next.sensitive) return true;
  return last.tenant !== next.tenant || last.user !== next.user;
}

/** Work that is isolated on the network is isolated in GPU memory too. */
export const gpuUserOf = ({ tenant, user, network }: pb.RunOrder): GpuUser => ({
  tenant,
  user,
  sensitive: network?.sensitive === true,
});
