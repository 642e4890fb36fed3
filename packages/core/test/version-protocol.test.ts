// Which version of the protocol two programs speak, whatever their releases.

import { agreeOnProtocol, PROTOCOL, protocolRange } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

describe("the protocol between agents and servers", () => {
  it("supports its newest version and the one before, and has no version before the first", () => {
    expect(protocolRange(5)).toEqual({ oldest: 4, newest: 5 });
    expect(protocolRange(1)).toEqual({ oldest: 1, newest: 1 });
    expect(PROTOCOL).toEqual(protocolRange(PROTOCOL.newest));
  });

  it.each([
    [5, 5, 5],
    [5, 4, 4],
    [4, 5, 4],
    [2, 1, 1],
  ])("%i and %i agree on %i", (a, b, version) => {
    expect(agreeOnProtocol(protocolRange(a), protocolRange(b))).toEqual({ kind: "agreed", version });
  });

  it("is rejected with both versions when they have none in common", () => {
    const apart = { kind: "apart", theirs: "too_old", ranges: "versions 4 and 5 here, versions 2 and 3 there" };
    expect(agreeOnProtocol(protocolRange(5), protocolRange(3))).toEqual(apart);
    expect(agreeOnProtocol(protocolRange(3), protocolRange(5))).toMatchObject({ theirs: "too_new" });
    expect(agreeOnProtocol(protocolRange(1), protocolRange(0))).toMatchObject({ theirs: "too_old" });
  });

  it("is negotiated with the same result by both sides, exactly when they are at most one version apart", () => {
    const newest = fc.integer({ min: 1, max: 50 });
    fc.assert(
      fc.property(newest, newest, (a, b) => {
        const [here, there] = [protocolRange(a), protocolRange(b)];
        const agreement = agreeOnProtocol(here, there);
        expect(agreement.kind).toBe(Math.abs(a - b) <= 1 ? "agreed" : "apart");
        if (agreement.kind === "agreed") expect(agreeOnProtocol(there, here)).toEqual(agreement);
      }),
    );
  });
});
