// The handle under which cycles of one vCluster find what an earlier cycle computed. Each owner of such data
// keys its own table by the handle, so this file knows nothing about the contents.

/** Changes how fast a plan is made, never the plan. */
export interface CycleCache {
  readonly purpose: "cycle cache";
}

export const createCycleCache = (): CycleCache => ({ purpose: "cycle cache" });
