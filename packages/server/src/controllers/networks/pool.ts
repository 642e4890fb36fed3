// Whether administrators are to be told that no number is left for a network domain, or that there is one again. Looked at from the pool
// itself, whoever used it up and however it came back: submissions that are refused change nothing, and so cannot tell. Pure.

import { type Command, freeVni, noticeKey, poolSize, type View } from "@lattice/core";

/** Null: what is raised is so. */
export function decidePool(view: Pick<View, "network" | "domains" | "notices">): Command | null {
  const key = noticeKey("vni_pool_exhausted", "cluster");
  const exhausted = freeVni(view) === null;
  const raised = Array.from(view.notices()).some((notice) => notice.key === key && notice.clearedAt === undefined);
  if (exhausted === raised) return null;
  if (!exhausted) return { kind: "notice.clear", key };
  const text = `all ${poolSize(view.network)} network numbers of the pool are in use: no network domain can be made`;
  return { kind: "notice.raise", notice: { key, kind: "vni_pool_exhausted", text, tenant: null, user: null } };
}
