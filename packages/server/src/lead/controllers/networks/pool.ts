// Raises and clears the notice that the VNI pool is exhausted. Derived from the pool itself, since refused submissions
// change no state. Pure.

import { type Command, freeVni, noticeKey, poolSize, type View } from "@lattice/core";

/** Returns `null` when the notice is up to date. */
export function decidePool(view: Pick<View, "network" | "domains" | "notices">): Command | null {
  const key = noticeKey("vni_pool_exhausted", "cluster");
  const exhausted = freeVni(view) === null;
  const raised = Array.from(view.notices()).some((notice) => notice.key === key && notice.clearedAt === undefined);
  if (exhausted === raised) return null;
  if (!exhausted) return { kind: "notice.clear", key };
  const text = `all ${poolSize(view.network)} network numbers of the pool are in use: no network domain can be made`;
  return { kind: "notice.raise", notice: { key, kind: "vni_pool_exhausted", text, tenant: null, user: null } };
}
