// Secrets from a Vault that answers, is sealed for a while, refuses, redirects or is another program: the server gets
// the secret or reports the reason, and never logs the secret.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { fetchVaultSecrets, loadConfig } from "../../../src/base/config/index.ts";
import { fetchSecret } from "../../../src/base/config/vault.ts";

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

async function vault(...faults: string[]) {
  const path = fileURLToPath(new URL("vault-server.mjs", import.meta.url));
  const child = spawn(process.execPath, [path, ...faults], { stdio: ["ignore", "pipe", "inherit"] });
  running.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { address: `http://127.0.0.1:${line.toString().trim()}`, token: "s.good", mount: "secret", namespace: "" };
}

const SECRET = "a secret of more than thirty-two characters";

test("a secret of the configuration is fetched from Vault", async () => {
  const { address } = await vault("sealed:2");
  const text = 'api: { oidc_hmac_secret: "vault://lattice/hmac" }';
  await fetchVaultSecrets(text, { VAULT_ADDR: address, VAULT_TOKEN: "s.good" });
  const { auth } = loadConfig(null, { api: { oidc_hmac_secret: "vault://lattice/hmac" } }).api;
  expect(auth).toMatchObject({ kind: "hmac", secret: SECRET });
});

test("an unavailable secret is reported without its value", async () => {
  const access = await vault();
  expect(await fetchSecret(access, "vault://lattice/hmac")).toBe(SECRET);
  expect(await fetchSecret(access, "vault://lattice/hmac#short")).toBe("short");
  for (const [reference, change, why] of [
    ["vault://lattice/hmac", { token: "s.bad" }, /Vault token may not read it/],
    ["vault://lattice/nothing", {}, /no such secret/],
    ["vault://lattice/hmac#number", {}, /no text under "number"/],
    ["vault://../../sys/seal", {}, /not a path in Vault/],
  ] as const) {
    const failed = await fetchSecret({ ...access, ...change }, reference).catch((error: Error) => error.message);
    expect(failed).toMatch(why);
    expect(failed).not.toContain(SECRET);
  }
  await expect(fetchSecret(await vault("odd"), "vault://lattice/hmac")).rejects.toThrow(/not of a key-value store/);
});

test("redirects of Vault are not followed, and an unreachable Vault is given up", async () => {
  await expect(fetchSecret(await vault("redirect"), "vault://lattice/hmac")).rejects.toThrow(/does not answer/);
  const away = { address: "http://127.0.0.1:9", token: "s.good", mount: "secret", namespace: "" };
  await expect(fetchSecret(away, "vault://lattice/hmac")).rejects.toThrow(/127\.0\.0\.1:9 does not answer/);
  await expect(fetchVaultSecrets("x: vault://a", {})).rejects.toThrow(/VAULT_ADDR/);
  // Examples in comments, no text, and text that loading refuses.
  for (const text of ["x: 1 # vault://a\n#y: vault://b", "", "x: [", "{ y: &a [*a] }"])
    await expect(fetchVaultSecrets(text, {})).resolves.toBeUndefined();
  await expect(fetchVaultSecrets("x: vault://a", { VAULT_ADDR: "http://127.0.0.1:9" })).rejects.toThrow(/VAULT_TOKEN/);
});
