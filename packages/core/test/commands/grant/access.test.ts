// Grants and secrets: who gets a role, how often a key may be rotated, and for how long earlier keys count.

import { type Command, type duration, GRANT_ROLES, MAX_EARLIER_SECRETS, type UserName } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type Cluster, createCluster, grant, origin, tenant, verdict } from "../../support/cluster.ts";
import { expectRejected, expectRepeated } from "../../support/content.ts";
import { fieldsOf } from "../../support/placing.ts";

const key = (letter: string, length = 43): string => letter.repeat(length);
const keep = (value: string, name = "jobs"): Command => ({ kind: "secret.keep", name: name as "jobs", value });
const rotate = (value: string, ms = 60_000): Command => ({
  kind: "secret.rotate",
  origin: origin(),
  name: "jobs",
  value,
  keep: ms as ReturnType<typeof duration>,
});
const earlier = (c: Cluster): readonly string[] => c.state.earlierSecrets("jobs").map(({ value }) => value.charAt(0));

describe("a grant", () => {
  it.each(GRANT_ROLES)("of the role %s is added once and removed once", (role) => {
    const c = createCluster(tenant("physics"));
    const add = grant("grant.add", "physics", "bob", role);
    const remove = grant("grant.remove", "physics", "bob", role);
    expect(verdict(c.one(add))).toBe("accepted");
    expectRepeated(c, add);
    expect(c.state.grantsOf("bob" as UserName)).toMatchObject([{ tenant: "physics", role, by: "ada" }]);
    expect(verdict(c.one(remove))).toBe("accepted");
    expectRejected(c, remove, "unknown_grant");
    expect(c.state.grantsOf("bob" as UserName)).toEqual([]);
  });

  it.each<[string, string, Command]>([
    ["invalid_argument", "user", grant("grant.add", "physics", "a b")],
    ["invalid_argument", "user", grant("grant.add", "physics", "")],
    ["invalid_argument", "role", grant("grant.add", "physics", "bob", "king")],
    ["unknown_tenant", "", grant("grant.add", "art", "bob")],
    ["unknown_grant", "", grant("grant.remove", "physics", "bob")],
    ["unknown_grant", "", grant("grant.remove", "art", "bob")],
  ])("is rejected with %s %s", (code, field, command) => {
    const outcome = expectRejected(createCluster(tenant("physics")), command, code);
    if (field !== "") expect(fieldsOf(outcome)).toEqual([field]);
  });

  it("of one role does not give another role, or the same role in another tenant", () => {
    const c = createCluster(tenant("physics"), tenant("art"));
    c.apply(grant("grant.add", "physics", "bob", "tenant_admin"), grant("grant.add", "art", "bob", "claiming_user"));
    expect(c.state.grantsOf("bob" as UserName).map(({ tenant: of, role }) => `${of} ${role}`)).toEqual([
      "physics tenant_admin",
      "art claiming_user",
    ]);
    expectRejected(c, grant("grant.remove", "physics", "bob", "claiming_user"), "unknown_grant");
    expect(c.state.grantsOf("eve" as UserName)).toEqual([]);
  });
});

describe("a secret", () => {
  it.each<[string, boolean]>([
    [key("a", 42), false],
    [key("a", 43), true],
    [key("a", 256), true],
    [key("a", 257), false],
    [`${key("a", 42)}+`, false],
    [`${key("a", 40)}_-9`, true],
    [`${key("a", 43)}\n`, false],
  ])("%j is acceptable: %s", (value, good) => {
    const c = createCluster();
    if (good) expect(verdict(c.one(keep(value)))).toBe("accepted");
    else expect(fieldsOf(expectRejected(c, keep(value), "invalid_argument"))).toEqual(["value"]);
  });

  it("has a known name", () => {
    expect(fieldsOf(expectRejected(createCluster(), keep(key("a"), "users"), "invalid_argument"))).toEqual(["name"]);
  });

  it("keeps its first value, whatever other servers propose", () => {
    const c = createCluster(keep(key("a")));
    expectRepeated(c, keep(key("b")));
    expect(c.state.secret("jobs")).toBe(key("a"));
  });

  it("cannot be rotated before it exists", () => {
    const c = createCluster();
    expectRejected(c, rotate(key("b")), "illegal_transition");
    expect([c.state.secret("jobs"), earlier(c)]).toEqual([null, []]);
  });

  it("counts after a rotation for the time that the rotation names", () => {
    const c = createCluster(keep(key("a")));
    c.apply(rotate(key("b"), 60_000));
    expect(c.state.earlierSecrets("jobs")).toEqual([{ value: key("a"), until: c.state.at + 60_000 }]);
    c.advance(59_999);
    c.apply(rotate(key("c"), 60_000));
    expect(earlier(c)).toEqual(["b", "a"]);
    c.advance(1);
    c.apply(rotate(key("d"), 60_000));
    expect(earlier(c)).toEqual(["c", "b"]);
  });

  it("rotated without a time invalidates all earlier ones", () => {
    const c = createCluster(keep(key("a")));
    c.apply(rotate(key("b")), rotate(key("c"), 0));
    expect([c.state.secret("jobs"), earlier(c)]).toEqual([key("c"), []]);
  });

  it("cannot be rotated to a value that still counts", () => {
    const c = createCluster(keep(key("a")));
    c.apply(rotate(key("b"), 60_000));
    for (const used of ["a", "b"]) {
      expect(fieldsOf(expectRejected(c, rotate(key(used)), "invalid_argument"))).toEqual(["value"]);
    }
    c.advance(60_000);
    expect(verdict(c.one(rotate(key("a"))))).toBe("accepted");
  });

  it("has at most eight valid earlier values, and room for another when one expires", () => {
    const c = createCluster(keep(key("a")));
    for (let n = 0; n < MAX_EARLIER_SECRETS; n += 1) {
      expect(verdict(c.one(rotate(key(String.fromCharCode(98 + n)), 60_000 + n)))).toBe("accepted");
    }
    expect(expectRejected(c, rotate(key("z")), "quota_exceeded")).toMatchObject({
      refusal: { figures: { current: 8, requested: 1, limit: 8 } },
    });
    c.advance(60_000);
    expect(verdict(c.one(rotate(key("z"))))).toBe("accepted");
  });

  it.each([-1, 0.5, Number.NaN])("is not rotated for %d ms", (ms) => {
    const c = createCluster(keep(key("a")));
    expect(fieldsOf(expectRejected(c, rotate(key("b"), ms), "invalid_argument"))).toEqual(["keep"]);
  });
});
