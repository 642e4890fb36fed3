// The lead of the last checkpoint before the end of the walltime.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { walltimeLead } from "../../src/index.ts";

describe("the lead before the walltime", () => {
  it.each([
    { what: "a measured checkpoint", walltimeSeconds: 7_200, writeSeconds: 60, measured: true, lead: 130 },
    { what: "an estimated checkpoint", walltimeSeconds: 7_200, writeSeconds: 60, measured: false, lead: 150 },
    { what: "a measured one of half the walltime", walltimeSeconds: 100, writeSeconds: 60, measured: true, lead: 50 },
    { what: "an estimate above the walltime", walltimeSeconds: 100, writeSeconds: 9_000, measured: false, lead: 25 },
    { what: "a walltime of 20 s", walltimeSeconds: 20, writeSeconds: 0.4, measured: false, lead: 5 },
    { what: "a walltime of 4 s", walltimeSeconds: 4, writeSeconds: 0.4, measured: false, lead: 2 },
  ])("for $what is $lead s", ({ lead, ...input }) => {
    expect(walltimeLead(input)).toBe(lead);
  });

  it("never exceeds half the walltime, and grows with the time to write", () => {
    const seconds = fc.double({ min: 1, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(seconds, seconds, seconds, fc.boolean(), (walltimeSeconds, a, b, measured) => {
        const lead = (writeSeconds: number) => walltimeLead({ walltimeSeconds, writeSeconds, measured });
        expect(lead(a)).toBeLessThanOrEqual(walltimeSeconds / 2);
        expect(lead(Math.max(a, b))).toBeGreaterThanOrEqual(lead(Math.min(a, b)));
      }),
    );
  });
});
