// Logging in as people do, with a real OpenID provider: by a browser (PKCE), by a code on another device, by a refresh
// that nobody notices, also in commands that outlive their tokens, and out again; a program by its own credentials; and a
// token that was called back.

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import Provider, { type KoaContextWithOIDC } from "oidc-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { visit } from "../harness/browser.ts";
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
/** People's tokens are signed texts, or texts that only the provider knows and can call back at once. */
let signed = true;
/** Renewals that the provider was asked for. */
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
  const believed = "oidc_introspection_client: robot, oidc_believed_seconds: 1";
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
    // Refreshed by the next command, which finds nearly nothing left of it.
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

/** Starts a login, does what its words ask a person to do, and waits for its end. */
async function login(words: readonly string[], act: (said: string) => Promise<boolean>): Promise<string> {
  const child = spawnCli(["login", ...words], { env: env() });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  await eventually({ what: "the login says where to go" }, async () => ((await act(said)) ? true : null));
  expect(await ended, said).toBe(0);
  return said;
}

test("by a browser: PKCE, and commands work afterwards", async () => {
  expect((await lattice("nodes")).code).toBe(4);
  await login(["--flow", "browser"], async (said) => {
    const address = /(http\S+\/auth\?\S+)/.exec(said)?.[1];
    if (address === undefined) return false;
    expect(address).toContain("code_challenge_method=S256");
    expect((await visit(address, PERSON)).text).toContain("You are logged in");
    return true;
  });
  const { code, stderr } = await lattice("nodes");
  expect(code, stderr).toBe(0);
});

test("what is mine is the token's user's, not the local account's", async () => {
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

test("a login that the provider refuses is none, in the browser as well; a stranger's call does not end the wait", async () => {
  const child = spawnCli(["login", "--flow", "browser"], { env: env() });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  const address = await eventually(
    { what: "the login says where to go" },
    () => /(http\S+\/auth\?\S+)/.exec(said)?.[1] ?? null,
  );
  const back = "http://localhost:8400/callback";
  const stranger = await eventually({ what: "the login listens" }, async () => fetch(`${back}?code=x&state=guessed`));
  expect([stranger.status, await stranger.text()]).toEqual([400, expect.stringContaining("no answer to a login")]);
  const state = new URL(address).searchParams.get("state") ?? "";
  const page = await fetch(`${back}?${new URLSearchParams({ error: "access_denied", state })}`);
  expect(await page.text()).toContain("You are not logged in to Lattice");
  expect([await ended, said]).toEqual([4, expect.stringContaining("access_denied")]);
  expect((await lattice("nodes")).code, "who was logged in still is").toBe(0);
});

/** As if the kept token were about to end. */
function nearItsEnd(): void {
  const cache = JSON.parse(readFileSync(tokenFile(), "utf8")) as Record<string, object>;
  const ending = Object.entries(cache).map(([url, token]) => [url, { ...token, expiresAtMs: Date.now() + 1_000 }]);
  writeFileSync(tokenFile(), JSON.stringify(Object.fromEntries(ending)), { mode: 0o600 });
}

test("several commands at once renew a token once, and the renewal after that is good as well", async () => {
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

test("a token that is about to end is renewed by the next command; after logout the renewal is good for nothing", async () => {
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

test("by a code that is entered elsewhere", async () => {
  signed = false;
  await login(["--device"], async (said) => {
    const [, address, code] = /Open (\S+) and enter the code (\S+)/.exec(said) ?? [];
    if (address === undefined || code === undefined) return false;
    const { text } = await visit(address, { ...PERSON, user_code: code });
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

/** The kept token counts for nothing from here on; resolves when a command has had it renewed. */
async function endToken(): Promise<void> {
  const ended = String(kept()?.accessToken);
  // Not by its endpoint for that, which calls back the renewal too.
  await (await oidc.AccessToken.find(ended))?.destroy();
  await eventually({ what: "the token is renewed" }, () => (kept()?.accessToken === ended ? null : true));
}

/** A command that goes on; `said` is what it has written so far. */
function started(...words: string[]) {
  const child = spawnCli(words, { env: env() });
  const seen = { said: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    seen.said += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    seen.err += chunk.toString();
  });
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  const shows = (text: string) =>
    eventually({ what: `${words[0]} shows ${text}: ${seen.err}` }, () => (seen.said.includes(text) ? true : null));
  return { seen, ended, shows };
}

test("output is followed and tasks go on over tokens that end", async () => {
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
  expect([await launch.ended, launch.seen.said]).toEqual([0, "task 0\ntask 1\ntask 2\n"]);
  expect((await lattice("cancel", id)).code).toBe(0);
  await logs.ended;
  expect(logs.seen.said, logs.seen.err).toBe("job 0\njob 1\njob 2\n");
  signed = true;
});

test("without a display by a code, and with the scopes that the server names", async () => {
  const said = await login([], async (so) => {
    const [, address, code] = /Open (\S+) and enter the code (\S+)/.exec(so) ?? [];
    if (address === undefined || code === undefined) return false;
    expect((await visit(address, { ...PERSON, user_code: code })).text).toMatch(/success/i);
    return true;
  });
  expect(said).toContain("Logging in by a code, since there is no display for a browser");
  const discovery = (await (await fetch(`${cluster.apiUrl}/api/v1/auth/discovery`)).json()) as { scopes?: string };
  expect(discovery.scopes).toBe("operator");
  const [, body = ""] = String(kept()?.accessToken).split(".");
  expect(JSON.parse(Buffer.from(body, "base64url").toString())).toMatchObject({ scope: "operator" });
});

test("a program by its own credentials, until its token is called back", async () => {
  const proof = `Basic ${Buffer.from(`${ROBOT.client_id}:${ROBOT.client_secret}`).toString("base64")}`;
  const post = (path: string, body: Record<string, string>) =>
    fetch(`${issuer}${path}`, { method: "POST", headers: { authorization: proof }, body: new URLSearchParams(body) });
  const granted = await post("/token", { grant_type: "client_credentials", scope: "operator", resource: RESOURCE });
  const signed = ((await granted.json()) as { access_token: string }).access_token;
  const call = async (token: string) =>
    (await fetch(`${cluster.apiUrl}/api/v1/nodes`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await call(signed)).toBe(200);
  // One that is no signed text: only the provider can say what it is good for.
  const opaque = await post("/token", { grant_type: "client_credentials", scope: "operator", resource: OPAQUE });
  const token = ((await opaque.json()) as { access_token: string }).access_token;
  expect(token.split(".")).toHaveLength(1);
  expect(await call(token)).toBe(200);
  expect(await call(`${token}x`)).toBe(401);
  await post("/token/revocation", { token });
  // It is believed for as long as it was told to be.
  await eventually({ what: "the token is refused" }, async () => ((await call(token)) === 401 ? true : null));
});
