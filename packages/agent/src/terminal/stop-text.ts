// The notice at terminals when their allocation is stopped.

/** Returns the notice that a user at a terminal reads when the attempt is stopped. */
export function stopText(reason: string, allocationId: string): string {
  if (!/preempt/i.test(reason)) return `The allocation is being stopped${reason === "" ? "" : `: ${reason}`}.`;
  return `Allocation preempted. Session suspended. Use 'lattice attach ${allocationId}' to reconnect after rescheduling.`;
}
