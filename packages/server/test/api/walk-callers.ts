// The callers for tests of every route: each role on its own objects, a colleague's and another tenant's, each role of
// another tenant, restricted tokens, tokens of a job and of an agent, and unauthenticated callers.

import type { Authenticator } from "../../src/base/auth/authenticator.ts";
import { type Principal, ROLES } from "../../src/base/auth/principal.ts";
import { OWNERS, type Owner, sign, TENANT, tokenOf } from "./walk.ts";

export interface Caller {
  readonly name: string;
  readonly user: Owner;
  readonly token: string | null;
  /** `null` for an unauthenticated caller. */
  readonly principal: Principal | null;
  /** The owner of the requested objects. */
  readonly asks: readonly Owner[];
}

/** `job`: a running job of ada's. */
export async function callersOf(authenticator: Authenticator, job: string): Promise<readonly Caller[]> {
  const known = async (name: string, user: Owner, token: string, asks: readonly Owner[] = OWNERS): Promise<Caller> => {
    const headers = (header: string) => (header === "authorization" ? `Bearer ${token}` : undefined);
    return { name, user, token, principal: await authenticator.authenticate(headers), asks };
  };
  const unknown = (name: string, token: string | null): Caller => ({
    name,
    user: "ada",
    token,
    principal: null,
    asks: ["ada"],
  });
  const admin = { sub: "ada", tenant: TENANT.ada, scope: "admin" };
  const scoped = (scope: string) => sign({ sub: "ada", tenant: TENANT.ada, scope });
  return [
    ...(await Promise.all(ROLES.map(async (role) => known(role, "ada", await tokenOf("ada", role))))),
    ...(await Promise.all(
      ROLES.map(async (role) => known(`eve, ${role}`, "eve", await tokenOf("eve", role), ["ada"])),
    )),
    ...(await Promise.all(
      ["allocations:read", "allocations:attach", `job:${job}`, "agent"].map(async (scope) =>
        known(scope, "ada", await scoped(scope)),
      ),
    )),
    unknown("no token", null),
    unknown("a token that has expired", await sign(admin, Math.floor(Date.now() / 1_000) - 60)),
    unknown("a token by another key", await sign(admin, "5m", "a key that this server has never heard of")),
    unknown("the token of a job that is over", await scoped("job:999999")),
  ];
}
