// The notice at terminals when their allocation is stopped.

import { expect, test } from "vitest";
import { stopText } from "../../src/terminal/stop-text.ts";

test("a preempted session gets instructions to reconnect, another one the reason", () => {
  expect(stopText("preempted for allocation 7", "12")).toBe(
    "Allocation preempted. Session suspended. Use 'lattice attach 12' to reconnect after rescheduling.",
  );
  expect(stopText("cancelled", "12")).toBe("The allocation is being stopped: cancelled.");
  expect(stopText("", "12")).toBe("The allocation is being stopped.");
});
