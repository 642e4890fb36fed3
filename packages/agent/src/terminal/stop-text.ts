// What people at terminals are told when their allocation ends under them.

/** What a person at a terminal reads when the attempt is told to stop. */
export function stopText(reason: string, allocationId: string): string {
  if (!/preempt/i.test(reason)) return `The allocation is being stopped${reason === "" ? "" : `: ${reason}`}.`;
  return `Allocation preempted. Session suspended. Use 'lattice attach ${allocationId}' to reconnect after rescheduling.`;
}
