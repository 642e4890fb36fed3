// The calling user: with a token the token's user, whatever account the command runs under.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type CachedToken, writeToken } from "../src/login/token-cache.ts";
import { claimsOf, userIn } from "../src/login/token-claims.ts";
import { runSlurm } from "../src/slurm/program.ts";
import { useScripted } from "./scripted.ts";

const rig = useScripted();
const home = mkdtempSync(join(tmpdir(), "lattice-test-identity-"));
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 9 }));

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const token = (claims: object) => `${part({ alg: "RS256" })}.${part(claims)}.c2lnbmF0dXJl`;
const ADA = token({ preferred_username: "ada", sub: "7f3c" });

describe("with ada's token in another account", () => {
  beforeEach(() => {
    vi.stubEnv("LATTICE_TOKEN", ADA);
    vi.stubEnv("LATTICE_USER", "alovelace");
    rig.answers = {
      "GET /api/v1/allocations": [200, { allocations: [] }],
      "GET /api/v1/dags": [200, { dags: [] }],
      "GET /api/v1/accounting": [200, {}],
      "GET /api/v1/nodes": [200, {}],
    };
  });

  const asked = () => {
    const users = rig.requests
      .map((line) => new URL(line.split(" ")[1] ?? "", "http://x"))
      .filter(({ pathname }) => !pathname.endsWith("/nodes"))
      .map(({ searchParams }) => searchParams.get("user"));
    return [...new Set(users)];
  };

  test.each([
    [["status"]],
    [["history"]],
    [["cancel", "--all-mine"]],
    [["dag", "list"]],
    [["__complete", "allocations"]],
    [["__complete", "dags"]],
  ])("%j requests ada's objects", async (words) => {
    expect(await rig.run(...words), rig.err).toBe(0);
    expect(asked()).toEqual(["ada"]);
  });

  test("status names the user of an empty list; --user names another", async () => {
    await rig.run("status");
    expect(rig.err).toContain("No allocations of ada.");
    await rig.run("status", "--user", "grace");
    expect(asked()).toEqual(["ada", "grace"]);
  });

  test.each([
    ["squeue", ["--me", "-h"]],
    ["scancel", ["--me"]],
    ["sacct", ["-n"]],
  ])("%s requests ada's jobs", async (program, words) => {
    await runSlurm(program, words);
    expect(new Set(asked()), rig.err).toEqual(new Set(["ada"]));
  });
});

test("an opaque token belongs to the user who logged in, or to the settings' user", async () => {
  mkdirSync(join(home, "lattice"), { recursive: true });
  vi.stubEnv("XDG_CONFIG_HOME", home);
  vi.stubEnv("LATTICE_TOKEN", "");
  vi.stubEnv("LATTICE_USER", "alovelace");
  const kept: CachedToken = {
    accessToken: "opaque",
    refreshToken: null,
    expiresAtMs: Date.now() + 600_000,
    issuer: "http://idp",
    clientId: "lattice",
    user: "ada",
  };
  writeToken(process.env, process.env.LATTICE_API_URL ?? "", kept);
  rig.answers = { "GET /api/v1/allocations": [200, { allocations: [] }] };
  await rig.run("status");
  expect(rig.err).toContain("No allocations of ada.");
  vi.stubEnv("LATTICE_TOKEN", "another-opaque-one");
  await rig.run("status");
  expect(rig.err).toContain("No allocations of alovelace.");
});

test.each([
  [{ preferred_username: "ada", sub: "1" }, "ada"],
  [{ preferred_username: "", sub: "1" }, "1"],
  [{ sub: "grace" }, "grace"],
  [{ sub: 7 }, undefined],
  [{ sub: "a\r\nx-lattice-user: eve" }, undefined],
  [{}, undefined],
])("the user in %j", (claims, user) => expect(userIn(claimsOf(token(claims)))).toBe(user));

test.each(["", "opaque", "a.b", "a.!.c", `a.${part(7)}.c`])("%j has no claims", (text) =>
  expect(claimsOf(text)).toBeUndefined(),
);
