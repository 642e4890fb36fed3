// A request that the rules of the state refuse. The thread of the planner passes the refusal on as data.

import type { Refusal } from "@lattice/core";

export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.detail);
    this.refusal = refusal;
  }
}
