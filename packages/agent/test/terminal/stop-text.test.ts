// What people at terminals are told when their allocation ends under them.

import { expect, test } from "vitest";
import { stopText } from "../../src/terminal/stop-text.ts";

test("a preempted session is told how to come back, another one why it ends", () => {
  expect(stopText("preempted for allocation 7", "12")).toBe(
    "Allocation preempted. Session suspended. Use 'lattice attach 12' to reconnect after rescheduling.",
  );
  expect(stopText("cancelled", "12")).toBe("The allocation is being stopped: cancelled.");
  expect(stopText("", "12")).toBe("The allocation is being stopped.");
});
