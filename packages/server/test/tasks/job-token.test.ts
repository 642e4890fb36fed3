// A job's token is taken by the same door that takes a user's, and reaches what its user reaches.
import { expect, test } from "vitest";
import { createJobToken } from "../../src/agents/job-token.ts";
import { createAuthenticator } from "../../src/api/auth/authenticator.ts";
import type { AuthConfig } from "../../src/config/auth.ts";

const auth: AuthConfig = {
  kind: "hmac",
  secret: "a secret that is long enough for everybody",
  clientId: "lattice",
  tenantClaim: "tenant",
  defaultTenant: null,
  leewaySeconds: 0,
  believedSeconds: 300,
};
const bearer = { user: "ada", tenant: "physics", allocationId: "42", walltimeSeconds: 60 };

test("it says who submitted the job, and no more than that", async () => {
  const token = createJobToken(auth, Date.now)(bearer);
  const headers = (name: string) => (name === "authorization" ? `Bearer ${token}` : undefined);
  expect(await createAuthenticator(auth).authenticate(headers)).toEqual({
    user: "ada",
    tenant: "physics",
    roles: ["User"],
    scopes: ["job:42"],
  });
});

test("it ends some time after the job", async () => {
  const token = createJobToken(auth, () => Date.now() - 3_600_000)(bearer);
  const headers = () => `Bearer ${token}`;
  await expect(Promise.resolve(createAuthenticator(auth).authenticate(headers))).rejects.toThrow("not valid");
});

test("a cluster that makes no tokens gives none", () => {
  expect(createJobToken({ kind: "none" }, Date.now)(bearer)).toBe("");
});
