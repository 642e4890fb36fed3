// Requests with an id: a client that repeats a request after a lost answer gets the same answer, for a day, and no second
// effect.

import { type Command, MAX_REQUEST_ID_LENGTH, type UserName } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cancel, createCluster, origin, setConfig, submit, tenant, verdict } from "./support/cluster.ts";
import { contentOf, expectRejected } from "./support/content.ts";

const DAY = 24 * 3600 * 1000;
const asked = (requestId: string, bodyHash = "h", user = "ada"): Command =>
  submit({}, { user: user as UserName, requestId, bodyHash });

describe("a request with an id", () => {
  it("is carried out once, and repeated with the same answer", () => {
    const c = createCluster();
    const first = c.one(asked("r1"));
    for (let n = 0; n < 3; n += 1) expect(c.one(asked("r1"))).toEqual({ ...first, repeated: true });
    expect(c.state.allocationCount).toBe(1);
  });

  it("from another user is another request", () => {
    const c = createCluster();
    c.apply(asked("r1"), asked("r1", "h", "bob"));
    expect(c.state.allocationCount).toBe(2);
  });

  it("is refused with another content or another command, and the first answer stays", () => {
    const c = createCluster();
    const first = c.one(asked("r1"));
    expectRejected(c, asked("r1", "other"), "request_conflict");
    expectRejected(c, { ...cancel(1), origin: origin("r1") } as Command, "request_conflict");
    expect(c.one(asked("r1"))).toEqual({ ...first, repeated: true });
    expect(c.phase(1)).toBe("pending");
  });

  it("that was refused is refused again, even if it would succeed now", () => {
    const c = createCluster();
    const wish = submit({ tenant: "art" }, origin("r1"));
    const strict = { ...wish, createTenant: false } as Command;
    expect(verdict(c.one(strict))).toBe("unknown_tenant");
    c.apply(tenant("art"));
    expect(verdict(c.one(strict))).toBe("unknown_tenant");
    expect(verdict(c.one({ ...strict, origin: origin("r2") } as Command))).toBe("accepted");
  });

  it.each([
    ["", "invalid_argument"],
    ["x", "accepted"],
    ["x".repeat(MAX_REQUEST_ID_LENGTH), "accepted"],
    ["x".repeat(MAX_REQUEST_ID_LENGTH + 1), "invalid_argument"],
  ])("of the id %j is %s", (requestId, expected) => {
    expect(verdict(createCluster().one(asked(requestId)))).toBe(expected);
  });

  it.each([
    [DAY - 1, 1],
    [DAY, 2],
  ])("that is repeated after %i ms creates %i allocations in all", (ms, count) => {
    const c = createCluster();
    c.apply(asked("r1"));
    c.advance(ms);
    c.apply(asked("r1"));
    expect(c.state.allocationCount).toBe(count);
  });

  it("of one user never takes the answers of others away", () => {
    const c = createCluster();
    c.apply(asked("r1", "h", "bob"), asked("r1"), asked("r2"));
    const refused = { ...submit({ tenant: "art" }), createTenant: false } as Command;
    const flood = Array.from({ length: 10_000 - 1 }, (_, n) => ({ ...refused, origin: origin(`f${n}`) }) as Command);
    c.apply(...flood);
    expect(c.state.requestsOf("ada" as UserName).count).toBe(10_000);
    expect(c.state.requestsOf("bob" as UserName)).toMatchObject({ count: 1, oldest: { requestId: "r1" } });
    expect(c.one(asked("r1", "h", "bob"))).toMatchObject({ repeated: true });
    expect(c.one(asked("r2"))).toMatchObject({ repeated: true });
    // The oldest answer of the user who asked too often is gone.
    expect(c.one(asked("r1"))).not.toMatchObject({ repeated: true });
    expect(c.state.allocationCount).toBe(4);
  });

  it("is forgotten in the order of arrival, and newer ones stay", () => {
    const c = createCluster();
    c.apply(asked("r1"));
    c.advance(1000);
    c.apply(asked("r2"));
    c.advance(DAY - 1000);
    c.apply();
    const known = (requestId: string): boolean => c.state.request("ada" as UserName, requestId) !== undefined;
    expect([known("r1"), known("r2")]).toEqual([false, true]);
    c.advance(1000);
    c.apply();
    expect([known("r1"), known("r2")]).toEqual([false, false]);
  });

  it("has no effect when it is repeated, in any mix of requests", () => {
    const wish = fc.tuple(fc.constantFrom("r1", "r2", "r3"), fc.constantFrom("h", "g"), fc.constantFrom("ada", "bob"));
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 15 }), (wishes) => {
        const c = createCluster();
        const answers = new Map<string, string>();
        for (const [requestId, bodyHash, user] of wishes) {
          const before = contentOf(c.state);
          const outcome = c.one(asked(requestId, bodyHash, user));
          const known = answers.get(`${user} ${requestId}`);
          if (known === undefined) {
            answers.set(`${user} ${requestId}`, bodyHash);
            expect(verdict(outcome)).toBe("accepted");
            continue;
          }
          expect(verdict(outcome)).toBe(known === bodyHash ? "repeated" : "request_conflict");
          expect(contentOf(c.state)).toBe(before);
        }
        expect(c.state.allocationCount).toBe(answers.size);
      }),
      { numRuns: 50 },
    );
  });

  it("is optional: without an id every command is its own request", () => {
    const c = createCluster();
    c.apply(submit(), submit());
    expect(c.state.allocationCount).toBe(2);
    expect(verdict(c.one(setConfig("a.b", "1")))).toBe("accepted");
  });
});
