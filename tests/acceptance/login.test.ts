// Login with a real OpenID provider: by browser (PKCE), by device code, by an unnoticed refresh, also in commands that
// outlive their tokens, and logout; a program with client credentials; and a revoked token.

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import Provider, { type KoaContextWithOIDC } from "oidc-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { submitForms } from "../harness/browser.ts";
import { runCli, spawnCli } from "../harness/cli.ts";
import { Cluster } from "../harness/cluster.ts";
import { eventually } from "../harness/eventually.ts";
import { kill } from "../harness/processes.ts";
import { type Program, startProgram } from "../harness/program.ts";

const RESOURCE = "urn:lattice:api";
const OPAQUE = "urn:lattice:opaque";
const ROBOT = { client_id: "robot", client_secret: "the-robot-has-a-secret" };
const PERSON = { login: "ada", password: "anything" };
const home = mkdtempSync(join(tmpdir(), "lattice-test-login-"));
let provider: Server;
let oidc: Provider;
let issuer = "";
let cluster: Cluster;
let agent: Program | null = null;
/** Users' tokens are signed or opaque; opaque ones can be revoked at once. */
let signed = true;
/** Refresh requests to the provider. */
let renewals = 0;

beforeAll(async () => {
  provider = createServer();
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  oidc = openProvider();
  const answer = oidc.callback();
  const count = ({ oidc: { params } }: KoaContextWithOIDC) => {
    if (params?.grant_type === "refresh_token") renewals += 1;
  };
  oidc.on("grant.success", count);
  oidc.on("grant.error", count);
  provider.on("request", (request, response) => void answer(request, response));
  writeFileSync(join(home, "secret"), ROBOT.client_secret, { mode: 0o600 });
  const api = `oidc_issuer: "${issuer}", oidc_client_id: lattice, oidc_scopes: [operator], oidc_client_secret: "file://${join(home, "secret")}"`;
  const believed = "oidc_introspection_client: robot, oidc_token_cache_seconds: 1";
  const looks = "token_recheck_interval: 1s";
  cluster = new Cluster({ nodes: 0, config: `api: { ${api}, ${believed}, ${looks} }\n` });
  await cluster.startServer();
});
afterAll(async () => {
  if (agent?.isRunning() === true) kill(agent.pid, "SIGKILL");
  await cluster.close();
  provider.closeAllConnections();
  provider.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 9 });
});

function openProvider(): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: "lattice",
        application_type: "native",
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        redirect_uris: ["http://localhost:8400/callback"],
        response_types: ["code"],
      },
      { ...ROBOT, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] },
    ],
    scopes: ["openid", "offline_access", "operator", "agent:any"],
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: (_ctx, token) => ({
      tenant: "default",
      preferred_username: "accountId" in token ? token.accountId : "robot",
    }),
    issueRefreshToken: () => true,
    // Refreshed by the next command, which finds it almost expired.
    ttl: { AccessToken: 600, ClientCredentials: 600 },
    features: {
      deviceFlow: { enabled: true },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, client) => (client?.clientId === "lattice" ? RESOURCE : []),
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: "operator agent:any",
          audience: "lattice",
          accessTokenFormat: resource === OPAQUE || !signed ? "opaque" : "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  });
}

const env = () => ({ HOME: home, LATTICE_API_URL: cluster.apiUrl, PATH: "/usr/bin:/bin" });
const lattice = (...words: string[]) => runCli(words, { env: env() });
const tokenFile = () => join(home, ".config", "lattice", "tokens.json");
const kept = () =>
  Object.values(JSON.parse(readFileSync(tokenFile(), "utf8")) as Record<string, Record<string, unknown>>)[0];

/** Starts a login, does what it asks the user to do, and waits for its end. */
async function login(words: readonly string[], act: (output: string) => Promise<boolean>): Promise<string> {
  const child = spawnCli(["login", ...words], { env: env() });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  await eventually({ what: "the login says where to go" }, async () => ((await act(output)) ? true : null));
  expect(await ended, output).toBe(0);
  return output;
}

test("browser login uses PKCE, and commands work afterwards", async () => {
  expect((await lattice("nodes")).code).toBe(4);
  await login(["--flow", "browser"], async (output) => {
    const address = /(http\S+\/auth\?\S+)/.exec(output)?.[1];
    if (address === undefined) return false;
    expect(address).toContain("code_challenge_method=S256");
    expect((await submitForms(address, PERSON)).text).toContain("You are logged in");
    return true;
  });
  const { code, stderr } = await lattice("nodes");
  expect(code, stderr).toBe(0);
});

test("the caller's own work is that of the token's user, not of the local account", async () => {
  const { stdout: id, stderr } = await lattice("submit", "--quiet", "--nodes=1", "--", "true");
  expect(id.trim(), stderr).not.toBe("");
  expect((await lattice("status", "--quiet")).stdout).toContain(id.trim());
  const installed = await lattice("compat", "install", join(home, "slurm"));
  expect(installed.code, installed.stderr).toBe(0);
  const options = { env: { ...env(), PATH: `${dirname(process.execPath)}:/usr/bin:/bin` } };
  const queue = await promisify(execFile)(join(home, "slurm", "squeue"), ["--me", "-h", "-o", "%i %u"], options);
  expect(queue.stdout.trim()).toBe(`${id.trim()} ada`);
  const cancelled = await lattice("cancel", "--all-mine");
  expect(cancelled.stdout, cancelled.stderr).toContain(`Cancelled allocation ${id.trim()}`);
});

test("a refused login fails in CLI and browser, and a foreign callback does not end the wait", async () => {
  const child = spawnCli(["login", "--flow", "browser"], { env: env() });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  const address = await eventually(
    { what: "the login says where to go" },
    () => /(http\S+\/auth\?\S+)/.exec(output)?.[1] ?? null,
  );
  const back = "http://localhost:8400/callback";
  const stranger = await eventually({ what: "the login listens" }, async () => fetch(`${back}?code=x&state=guessed`));
  expect([stranger.status, await stranger.text()]).toEqual([
    400,
    expect.stringContaining("does not belong to a login"),
  ]);
  const state = new URL(address).searchParams.get("state") ?? "";
  const page = await fetch(`${back}?${new URLSearchParams({ error: "access_denied", state })}`);
  expect(await page.text()).toContain("You are not logged in to Lattice");
  expect([await ended, output]).toEqual([4, expect.stringContaining("access_denied")]);
  expect((await lattice("nodes")).code, "who was logged in still is").toBe(0);
});

/** As if the stored token were about to expire. */
function nearItsEnd(): void {
  const cache = JSON.parse(readFileSync(tokenFile(), "utf8")) as Record<string, object>;
  const ending = Object.entries(cache).map(([url, token]) => [url, { ...token, expiresAtMs: Date.now() + 1_000 }]);
  writeFileSync(tokenFile(), JSON.stringify(Object.fromEntries(ending)), { mode: 0o600 });
}

test("concurrent commands renew a token once, and the next renewal works too", async () => {
  for (let round = 0; round < 2; round += 1) {
    nearItsEnd();
    const before = renewals;
    const results = await Promise.all(
      ["nodes", "status", "dag list", "nodes"].map((one) => lattice(...one.split(" "))),
    );
    expect(
      results.map(({ code }) => code),
      results.map(({ stderr }) => stderr).join(""),
    ).toEqual([0, 0, 0, 0]);
    expect(renewals - before).toBe(1);
  }
  expect(existsSync(`${tokenFile()}.lock`)).toBe(false);
});

test("an expiring token is renewed by the next command, and logout invalidates the refresh token", async () => {
  const before = kept();
  nearItsEnd();
  expect((await lattice("nodes")).code).toBe(0);
  const renewed = kept();
  expect(renewed?.accessToken).not.toBe(before?.accessToken);
  const { code, stderr } = await lattice("logout");
  expect([code, stderr]).toEqual([0, expect.stringContaining("Logged out")]);
  expect((await lattice("nodes")).code).toBe(4);
  const again = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "refresh_token",
      client_id: "lattice",
      refresh_token: String(renewed?.refreshToken),
    }),
  });
  expect(await again.json()).toMatchObject({ error: "invalid_grant" });
});

test("device login works with a code entered elsewhere", async () => {
  signed = false;
  await login(["--device"], async (output) => {
    const [, address, code] = /Open (\S+) and enter the code (\S+)/.exec(output) ?? [];
    if (address === undefined || code === undefined) return false;
    const { text } = await submitForms(address, { ...PERSON, user_code: code });
    expect(text).toMatch(/success/i);
    return true;
  });
  expect((await lattice("nodes")).code).toBe(0);
});

const tokenOf = async (body: Record<string, string>): Promise<string> => {
  const proof = `Basic ${Buffer.from(`${ROBOT.client_id}:${ROBOT.client_secret}`).toString("base64")}`;
  const granted = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: proof },
    body: new URLSearchParams({ grant_type: "client_credentials", ...body }),
  });
  return ((await granted.json()) as { access_token: string }).access_token;
};

/** Invalidates the stored token; resolves when a command has renewed it. */
async function endToken(): Promise<void> {
  const ended = String(kept()?.accessToken);
  // Not through the revocation endpoint, which revokes the refresh token too.
  await (await oidc.AccessToken.find(ended))?.destroy();
  await eventually({ what: "the token is renewed" }, () => (kept()?.accessToken === ended ? null : true));
}

/** A long-running command; `said` is its output so far. */
function started(...words: string[]) {
  const child = spawnCli(words, { env: env() });
  const seen = { output: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    seen.output += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    seen.err += chunk.toString();
  });
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  const shows = (text: string) =>
    eventually({ what: `${words[0]} shows ${text}: ${seen.err}` }, () => (seen.output.includes(text) ? true : null));
  return { seen, ended, shows };
}

test("log followers and tasks survive expiring tokens", async () => {
  agent = startProgram("lattice-agent", {
    args: ["--node-id", "n1", "--server", cluster.grpcAddress, "--data-dir", join(cluster.dir, "agent-n1")],
    logFile: join(cluster.dir, "agent-n1.log"),
    env: { LATTICE_AGENT_TOKEN: await tokenOf({ scope: "agent:any", resource: OPAQUE }) },
  });
  const says = (name: string) =>
    `echo ${name} 0; for n in 1 2; do until [ -e ${cluster.file(`${name}-`)}$n ]; do sleep 0.1; done; echo ${name} $n; done`;
  const submitted = await lattice("submit", "--quiet", "--nodes=1", "--", "sh", "-c", `${says("job")}; sleep 600`);
  const id = submitted.stdout.trim();
  expect(id, submitted.stderr).not.toBe("");
  const logs = started("logs", "-f", id);
  await logs.shows("job 0");
  const launch = started("launch", `--alloc=${id}`, "-n", "1", "sh", "-c", says("task"));
  await launch.shows("task 0");
  for (const n of [1, 2]) {
    await endToken();
    writeFileSync(cluster.file(`job-${n}`), "");
    writeFileSync(cluster.file(`task-${n}`), "");
    await logs.shows(`job ${n}`);
    await launch.shows(`task ${n}`);
  }
  expect([await launch.ended, launch.seen.output]).toEqual([0, "task 0\ntask 1\ntask 2\n"]);
  expect((await lattice("cancel", id)).code).toBe(0);
  await logs.ended;
  expect(logs.seen.output, logs.seen.err).toBe("job 0\njob 1\njob 2\n");
  signed = true;
});

test("login without a display uses a device code and the server's scopes", async () => {
  const output = await login([], async (so) => {
    const [, address, code] = /Open (\S+) and enter the code (\S+)/.exec(so) ?? [];
    if (address === undefined || code === undefined) return false;
    expect((await submitForms(address, { ...PERSON, user_code: code })).text).toMatch(/success/i);
    return true;
  });
  expect(output).toContain("Logging in with a device code, because there is no display for a browser");
  const discovery = (await (await fetch(`${cluster.apiUrl}/api/v1/auth/discovery`)).json()) as { scopes?: string };
  expect(discovery.scopes).toBe("operator");
  const [, body = ""] = String(kept()?.accessToken).split(".");
  expect(JSON.parse(Buffer.from(body, "base64url").toString())).toMatchObject({ scope: "operator" });
});

test("client credentials work until the token is revoked", async () => {
  const proof = `Basic ${Buffer.from(`${ROBOT.client_id}:${ROBOT.client_secret}`).toString("base64")}`;
  const post = (path: string, body: Record<string, string>) =>
    fetch(`${issuer}${path}`, { method: "POST", headers: { authorization: proof }, body: new URLSearchParams(body) });
  const granted = await post("/token", { grant_type: "client_credentials", scope: "operator", resource: RESOURCE });
  const signed = ((await granted.json()) as { access_token: string }).access_token;
  const call = async (token: string) =>
    (await fetch(`${cluster.apiUrl}/api/v1/nodes`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await call(signed)).toBe(200);
  // An opaque token: only the provider knows its meaning.
  const opaque = await post("/token", { grant_type: "client_credentials", scope: "operator", resource: OPAQUE });
  const token = ((await opaque.json()) as { access_token: string }).access_token;
  expect(token.split(".")).toHaveLength(1);
  expect(await call(token)).toBe(200);
  expect(await call(`${token}x`)).toBe(401);
  await post("/token/revocation", { token });
  // It is cached for the configured time.
  await eventually({ what: "the token is refused" }, async () => ((await call(token)) === 401 ? true : null));
});
