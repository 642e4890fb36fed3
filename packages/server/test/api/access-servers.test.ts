// A server that is about to join may add itself, and nothing else, with a token or with its certificate.

import type { PeerCertificate } from "node:tls";
import type { UserName } from "@lattice/core";
import { problemOf } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { acceptsServers, authorize, authorizeList, UNOWNED } from "../../src/api/access/authorize.ts";
import { RULES, type RuleName } from "../../src/api/access/rules.ts";
import { certified } from "../../src/base/auth/certified.ts";
import { principalOf } from "../../src/base/auth/claims.ts";
import type { Principal } from "../../src/base/auth/principal.ts";

const ADD = "AdminService.AddMember";
const shown = (CN: string, OU: string): PeerCertificate =>
  ({ subject: { CN, OU }, subjectaltname: "", valid_to: "Jan 1 00:00:00 2100 GMT" }) as unknown as PeerCertificate;

function tokenOf(user: string, scope: string): Principal {
  const result = principalOf({ sub: user, scope }, { tenantClaim: "tenant", defaultTenant: null });
  if (result.kind !== "principal") throw new Error(result.detail);
  return result.principal;
}

const certificateOf = (CN: string, OU: string, { servers = true, isRevoked = false } = {}): Principal =>
  certified(shown(CN, OU), { isRevoked: () => isRevoked }, { defaultTenant: null, now: 0, servers });

const codeOf = (call: () => unknown): string => {
  try {
    call();
    return "done";
  } catch (error) {
    return problemOf(error).code;
  }
};
const add = (principal: Principal, server: string) => codeOf(() => authorize(principal, ADD, { ...UNOWNED, server }));

describe.each([
  ["a token with the scope member", tokenOf("server-2", "member")],
  ["the certificate of a server", certificateOf("server-2.alps.lattice.internal", "server")],
] as const)("%s", (_, principal) => {
  test("adds its own server only", () => {
    expect(add(principal, "server-2")).toBe("done");
    expect(add(principal, "server-3")).toBe("forbidden");
  });

  test.each((Object.keys(RULES) as RuleName[]).filter((rpc) => rpc !== ADD))("does not permit %s", (rpc) => {
    const server = { ...UNOWNED, server: "server-2" };
    const own = { tenant: principal.tenant, user: "server-2" as UserName };
    for (const target of [server, own]) expect(codeOf(() => authorize(principal, rpc, target))).toBe("forbidden");
    expect(codeOf(() => authorizeList(principal, rpc))).toBe("forbidden");
  });
});

test("a token with the scope member:any adds every server; an ordinary token adds none", () => {
  expect(add(tokenOf("site", "member:any"), "server-9")).toBe("done");
  for (const scope of ["", "operator", "readonly", "tenant:admin", "agent", "members"])
    expect(add(tokenOf("server-2", scope), "server-2"), scope).toBe("forbidden");
  expect(add(tokenOf("root", "admin"), "server-2")).toBe("done");
});

test("the certificate of a server is accepted for adding itself only, and never once revoked", () => {
  expect((Object.keys(RULES) as RuleName[]).filter(acceptsServers)).toEqual([ADD]);
  expect(codeOf(() => certificateOf("server-2", "server", { servers: false }))).toBe("unauthenticated");
  expect(codeOf(() => certificateOf("server-2", "server", { isRevoked: true }))).toBe("unauthenticated");
  expect(codeOf(() => certificateOf("server-2", "agent"))).toBe("unauthenticated");
  expect(add(certificateOf("server-2", "client"), "server-2")).toBe("forbidden");
});
