// A cluster with authentication: shared-secret tokens for users and agents, the real programs, missing and foreign
// tokens, and tenant notices.

import { createHmac } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cluster } from "../harness/cluster.ts";
import { eventually } from "../harness/eventually.ts";
import { kill } from "../harness/processes.ts";
import { type Program, startProgram, tailOf } from "../harness/program.ts";
import { useTmux } from "../harness/tmux.ts";

const SECRET = "this secret is long enough for the hash it keys";

const taken: { readonly type: string; readonly notice?: object }[] = [];
const receiver = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  let body = "";
  request.on("data", (part) => {
    body += String(part);
  });
  request.on("end", () => {
    taken.push(JSON.parse(body) as (typeof taken)[number]);
    response.writeHead(204).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
afterAll(() => receiver.close());

/** Enough GPUs that a few seconds exceed a GPU-hour. */
const GPUS = ["--gpu-count=1000", "--gpu-type=GH200"];

const CONFIG = (secretFile: string) => `notifications:
  webhooks:
    - { name: purse, url: "http://127.0.0.1:${(receiver.address() as AddressInfo).port}/", secret: "file://${secretFile}", tenant: art }
`;

const API = (secretFile: string) => `api: { oidc_hmac_secret: "file://${secretFile}", oidc_client_id: lattice }\n`;

describe("a cluster with tokens", () => {
  const secrets = mkdtempSync(join(tmpdir(), "lattice-test-secret-"));
  const secretFile = join(secrets, "secret");
  const cluster = new Cluster({ nodes: 0, config: `${API(secretFile)}${CONFIG(secretFile)}` });
  const agents: Program[] = [];
  const tmux = useTmux(cluster);

  beforeAll(async () => {
    writeFileSync(secretFile, `${SECRET}\n`, { mode: 0o600 });
    await cluster.startServer();
  });
  afterAll(async () => {
    for (const agent of agents) if (agent.isRunning()) kill(agent.pid, "SIGKILL");
    await cluster.close();
    rmSync(secrets, { recursive: true, force: true, maxRetries: 9 });
  });

  async function token(...flags: string[]): Promise<string> {
    const { code, stdout, stderr } = await cluster.cli([
      "admin",
      "token",
      "create",
      "--secret-file",
      secretFile,
      "--audience=lattice",
      ...flags,
    ]);
    expect(code, stderr).toBe(0);
    return stdout.trim();
  }

  function startAgent(node: string, agentToken: string | null, ...flags: string[]): Program {
    const place = ["--server", cluster.grpcAddress, "--data-dir", join(cluster.dir, `agent-${node}`)];
    const agent = startProgram("lattice-agent", {
      args: ["--node-id", node, ...place, ...flags],
      logFile: join(cluster.dir, `agent-${node}.log`),
      ...(agentToken === null ? {} : { env: { LATTICE_AGENT_TOKEN: agentToken } }),
    });
    agents.push(agent);
    return agent;
  }

  test("a job runs from submission to output with tokens for user and node", async () => {
    const admin = await token("--user", "root", "--scope", "admin");
    const ada = await token("--user", "ada", "--tenant", "default");
    startAgent("n1", await token("--user", "n1", "--scope", "agent"), ...GPUS);
    const env = { LATTICE_TOKEN: ada };
    await eventually({ what: "the node is ready" }, async () => {
      const { stdout } = await cluster.cli(["nodes", "-o", "json"], { env: { LATTICE_TOKEN: admin } });
      return stdout.includes('"ready"') ? true : null;
    });
    const submitted = await cluster.cli(["submit", "--wait", "-q", "--", "/bin/echo", "it is me"], { env });
    expect(submitted.code, submitted.stderr).toBe(0);
    const id = submitted.stdout.trim().split("\n")[0] ?? "";
    const logs = await cluster.cli(["logs", id], { env });
    expect(logs.stdout).toContain("it is me");
    const status = await cluster.cli(["status", id, "-o", "json"], { env });
    expect(status.stdout).toContain('"ada"');
  });

  // Its effect is checked last: budgets are evaluated every 30 s.
  test("work is charged to the budget of its tenant", async () => {
    const root = { LATTICE_TOKEN: await token("--user", "root", "--scope", "admin") };
    const zoe = { LATTICE_TOKEN: await token("--user", "zoe", "--tenant", "art") };
    const made = await cluster.cli(["admin", "tenant", "create", "art", "--gpu-hours", "1"], { env: root });
    expect(made.code, made.stderr).toBe(0);
    const ran = await cluster.cli(["submit", "--wait", "-q", "--", "/bin/sleep", "5"], { env: zoe });
    expect(ran.code, ran.stderr).toBe(0);
  });

  test("without a token the CLI names the next step and exits with 4", async () => {
    const { code, stderr } = await cluster.cli(["status"]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/Not logged in\. .*requires a token[\s\S]*lattice login/);
  });

  test("a grant applies from the next call on, and the audit log of it verifies", async () => {
    const root = { LATTICE_TOKEN: await token("--user", "root", "--scope", "admin") };
    const bob = { LATTICE_TOKEN: await token("--user", "bob", "--tenant", "physics") };
    const lattice = (env: { LATTICE_TOKEN: string }, ...words: string[]) => cluster.cli(words, { env });
    expect((await lattice(root, "admin", "tenant", "create", "physics", "--max-nodes", "10")).code).toBe(0);
    const limited = (nodes: string) => lattice(bob, "admin", "tenant", "set-quota", "physics", "--max-nodes", nodes);
    expect([(await lattice(bob, "audit", "query")).code, (await limited("4")).code]).toEqual([4, 4]);
    const given = await lattice(root, "admin", "grant", "add", "--tenant", "physics", "bob", "tenant-admin");
    expect([given.code, given.stdout]).toEqual([0, "bob is tenant_admin of physics\n"]);
    const seen = await lattice(bob, "audit", "query", "-o", "json");
    expect(seen.stdout).toContain('"grant.add"');
    expect(seen.stdout).not.toContain('"vcluster.create"');
    expect((await limited("4")).stdout).toMatch(/0 of 4[\s\S]*Cluster ceilings: +max_nodes 10/);
    const beyond = await limited("11");
    expect([beyond.code, beyond.stderr]).toEqual([
      4,
      expect.stringMatching(/at most 10[\s\S]*administrator of the cluster/),
    ]);
    expect((await lattice(root, "admin", "grant", "list")).stdout).toMatch(/physics +bob +tenant_admin +root/);
    const file = join(cluster.dir, "audit.jsonl");
    const key = join(cluster.dir, "audit-keys.json");
    expect((await lattice(root, "audit", "export", "--file", file, "--key-file", key)).code).toBe(0);
    expect((await lattice(root, "audit", "verify", file, "--key-file", key)).stdout).toMatch(
      /hash chain intact, all signed/,
    );
    writeFileSync(file, readFileSync(file, "utf8").replace(/bob/, "eve"));
    const forged = await lattice(root, "audit", "verify", file, "--key-file", key);
    expect([forged.code, forged.stdout]).toEqual([1, expect.stringMatching(/was changed/)]);
    expect((await lattice(root, "admin", "grant", "remove", "--tenant", "physics", "bob", "tenant_admin")).code).toBe(
      0,
    );
    expect((await lattice(bob, "audit", "query")).code).toBe(4);
  });

  test("only administrators see, read or cancel another user's work", async () => {
    const ada = { LATTICE_TOKEN: await token("--user", "ada", "--tenant", "default") };
    const bob = { LATTICE_TOKEN: await token("--user", "bob", "--tenant", "default") };
    const eve = { LATTICE_TOKEN: await token("--user", "eve", "--tenant", "elsewhere") };
    const { stdout } = await cluster.cli(["submit", "-q", "--", "/bin/sleep", "300"], { env: ada });
    const id = stdout.trim();
    for (const env of [bob, eve]) {
      expect((await cluster.cli(["cancel", id], { env })).code).toBe(4);
      expect((await cluster.cli(["logs", id], { env })).code).toBe(4);
    }
    for (const env of [bob, eve]) {
      expect((await cluster.cli(["status", id], { env })).code).toBe(4);
      const list = await cluster.cli(["status", "--all", "-o", "json"], { env });
      expect(list.stdout).not.toContain('"ada"');
    }
    const named = await cluster.cli(["status", "--user", "ada"], { env: bob });
    expect([named.code, named.stderr]).toEqual([0, expect.stringContaining("users see their own")]);
    const chief = { LATTICE_TOKEN: await token("--user", "chief", "--tenant", "default", "--scope", "tenant:admin") };
    expect((await cluster.cli(["status", "--user", "ada", "-q"], { env: chief })).stdout).toContain(id);
    expect((await cluster.cli(["cancel", id], { env: ada })).code).toBe(0);
  });

  test("only the user accesses sensitive work, tenant reviewers read its output, and all access is audited", async () => {
    const root = { LATTICE_TOKEN: await token("--user", "root", "--scope", "admin") };
    const x = { LATTICE_TOKEN: await token("--user", "dr-x", "--tenant", "default", "--scope", "sensitive:claim") };
    const chief = { LATTICE_TOKEN: await token("--user", "chief", "--tenant", "default", "--scope", "tenant:admin") };
    const lattice = (env: { LATTICE_TOKEN: string }, ...words: string[]) => cluster.cli(words, { env });
    const made = await lattice(root, "admin", "vcluster", "create", "clinic", "--scheduler", "sensitive-reservation");
    expect(made.code, made.stderr).toBe(0);
    // It need not run: the node has no GPUs to clear.
    const held = await lattice(x, "submit", "-q", "--hold", "--vcluster", "clinic", "--", "/bin/true");
    expect(held.code, held.stderr).toBe(0);
    const id = held.stdout.trim();
    expect((await lattice(root, "status", id)).code).toBe(0);
    const reads = async ({ LATTICE_TOKEN: by }: typeof root) =>
      (await ask("GET", `/api/v1/allocations/${id}/logs`, authorized(by))).status;
    expect([await reads(x), await reads(chief), await reads(root)]).toEqual([200, 200, 403]);
    expect((await lattice(x, "diag", id)).code).toBe(0);
    for (const env of [root, chief]) {
      const refused = await lattice(env, "diag", id);
      expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("sensitive work")]);
    }
    const looks = ["chief logs.read", "chief sensitive.refused", "dr-x diagnostics.read", "dr-x logs.read"];
    await eventually({ what: "what was refused is written down too" }, async () => {
      const { stdout } = await lattice(root, "audit", "query", "--scope", "sensitive", "--alloc", id, "-o", "json");
      const { records } = JSON.parse(stdout) as { records: { user: string; event_type: string }[] };
      const seen = [...new Set(records.map(({ user, event_type }) => `${user} ${event_type}`))].sort();
      return seen.join() === [...looks, "root sensitive.refused"].join() ? true : null;
    });
    expect((await lattice(root, "cancel", id)).code).toBe(0);
  });

  const authorized = (by: string, more: object = {}) => ({ authorization: `Bearer ${by}`, ...more });

  /** Plain HTTP, because fetch would normalise some of the requests. */
  async function ask(method: string, path: string, headers: IncomingHttpHeaders, body?: object) {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    return new Promise<{ status: number; text: string }>((resolve, reject) => {
      const asked = request(`${cluster.apiUrl}${path}`, { method, headers: { ...type, ...headers }, agent: false });
      asked.on("error", reject);
      asked.on("upgrade", (_answer, socket) => {
        socket.destroy();
        resolve({ status: 101, text: "" });
      });
      asked.on("response", (answer) => {
        let text = "";
        answer.on("data", (part) => {
          text += String(part);
        });
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      });
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  test("tokens without a signature, with another key or for another audience are refused", async () => {
    const text = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { sub: "ada", tenant: "default", aud: "lattice", scope: "admin", exp: Date.now() / 1_000 + 600 };
    const signed = (header: object, output: object, key = SECRET, hash = "sha256"): string => {
      const whole = `${text(header)}.${text(output)}`;
      return `${whole}.${createHmac(hash, key).update(whole).digest("base64url")}`;
    };
    const good = signed({ alg: "HS256" }, claims);
    const status = async (by: string) => (await ask("GET", "/api/v1/allocations", authorized(by))).status;
    expect(await status(good), "the others differ from it in one thing").toBe(200);
    const bad = {
      "no algorithm": `${text({ alg: "none" })}.${text(claims)}.`,
      "no algorithm, signed": signed({ alg: "none" }, claims),
      "no algorithm, in other letters": `${text({ alg: "nOnE", typ: "JWT" })}.${text(claims)}.`,
      "no signature": `${good.split(".").slice(0, 2).join(".")}.`,
      "another algorithm": signed({ alg: "HS512" }, claims, SECRET, "sha512"),
      "another key": signed({ alg: "HS256" }, claims, `${SECRET}!`),
      "no key": signed({ alg: "HS256" }, claims, ""),
      "a key of its own": signed({ alg: "HS256", jwk: { kty: "oct", k: "AA" }, kid: "../../dev/null" }, claims, "\0"),
      "another audience": signed({ alg: "HS256" }, { ...claims, aud: "elsewhere" }),
      "no audience": signed({ alg: "HS256" }, { ...claims, aud: undefined }),
      ended: signed({ alg: "HS256" }, { ...claims, exp: 1 }),
      "no end": signed({ alg: "HS256" }, { ...claims, exp: undefined }),
    };
    for (const [what, by] of Object.entries(bad)) expect(await status(by), what).toBe(401);
  });

  test("names, paths and headers give no access to another tenant", async () => {
    const ada = await token("--user", "ada", "--tenant", "default");
    const eve = await token("--user", "eve", "--tenant", "elsewhere");
    const root = await token("--user", "root", "--scope", "admin");
    const made = await ask("POST", "/api/v1/sessions", authorized(ada), { walltime: "1h" });
    expect(made.status, made.text).toBe(200);
    const { session_id: session, allocation_id: id } = JSON.parse(made.text) as Record<string, string>;
    await eventually({ what: "the session runs" }, async () =>
      (await ask("GET", `/api/v1/sessions/${session}`, authorized(ada))).text.includes('"running"') ? true : null,
    );
    const all = async () => (await ask("GET", "/api/v1/allocations", authorized(root))).text;
    const before = await all();

    const injected = { "x-lattice-user": "ada", "x-lattice-tenant": "default", "x-forwarded-user": "ada" };
    const asEve = authorized(eve, injected);
    const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    const socket = { ...upgrade, "sec-websocket-key": Buffer.alloc(16).toString("base64") };
    for (const path of [`sessions/${session}/terminal`, `allocations/${id}/attach`]) {
      expect((await ask("GET", `/api/v1/${path}?user=ada`, { ...asEve, ...socket })).status, path).toBe(403);
      expect((await ask("GET", `/api/v1/${path}`, { ...injected, ...socket })).status, path).toBe(401);
    }
    expect((await ask("DELETE", `/api/v1/sessions/${session}`, asEve)).status).toBe(403);
    const other = { entrypoint: "true", tenant: "default" };
    expect((await ask("POST", "/api/v1/allocations", asEve, other)).status).toBe(403);
    const listed = await ask("GET", "/api/v1/allocations?tenant=default", asEve);
    expect(listed.text).not.toContain(`"${id}"`);

    for (const node of ["../../../server/secret", "..%2f..%2fetc%2fpasswd", "n1/../n1", "n1\0"]) {
      const path = `/api/v1/allocations/${id}/logs?node=${encodeURIComponent(node)}`;
      expect([400, 404], node).toContain((await ask("GET", path, authorized(ada))).status);
    }
    for (const bad of ["..%2f..%2f1", "%2e%2e", "1_..%2f1"])
      expect((await ask("GET", `/api/v1/allocations/${bad}/logs`, authorized(ada))).status, bad).toBe(404);
    for (const target of ["../../etc", "/data/../../etc", "relative", "/proc/self"]) {
      const asked = { entrypoint: "true", data: { mounts: [{ source: "/scratch/ada", target }] } };
      expect((await ask("POST", "/api/v1/allocations", authorized(ada), asked)).status, target).toBe(400);
    }
    for (const place of ["/etc", "/etc/../root", "../../etc", "s3://another/bucket"]) {
      const backup = { destination: place, source: `${place}/backup-20260305T120000Z.tar.gz` };
      const { destination, source } = backup;
      expect((await ask("POST", "/api/v1/admin/backup", authorized(root), { destination })).status, place).toBe(400);
      for (const path of ["/api/v1/admin/backup/verify", "/api/v1/admin/restore"])
        expect((await ask("POST", path, authorized(root), { source })).status, `${path} ${place}`).toBe(400);
    }
    const large = await ask("GET", "/api/v1/allocations", authorized(ada, { "x-large": "y".repeat(20_000) }));
    expect([large.status, large.text]).toEqual([431, expect.stringContaining("headers_too_large")]);
    expect(await all()).toBe(before);
    expect((await ask("DELETE", `/api/v1/sessions/${session}`, authorized(ada))).status).toBe(200);
  });

  test("an agent without a token, with a user's token or with another node's token is refused", async () => {
    startAgent("n2", null);
    startAgent("n3", await token("--user", "n3"));
    startAgent("n4", await token("--user", "n1", "--scope", "agent"));
    for (const node of ["n2", "n3", "n4"]) {
      await eventually({ what: `the log of ${node} names the refusal` }, async () =>
        /unauthenticated|forbidden|token/i.test(tailOf(join(cluster.dir, `agent-${node}.log`), 50)) ? true : null,
      );
    }
    const admin = { LATTICE_TOKEN: await token("--user", "root", "--scope", "admin") };
    const { stdout } = await cluster.cli(["nodes", "-o", "json"], { env: admin });
    expect(stdout).toContain('"n1"');
    for (const node of ["n2", "n3", "n4"]) expect(stdout).not.toContain(`"${node}"`);
  });

  test("login stores a token in a private file, and logout removes it", async () => {
    const ada = await token("--user", "ada", "--tenant", "default");
    const loggedIn = await cluster.cli(["login", "--manual"], { input: `${ada}\n` });
    expect(loggedIn.code, loggedIn.stderr).toBe(0);
    const kept = join(cluster.cliEnvironment().XDG_CONFIG_HOME ?? "", "lattice", "tokens.json");
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect((await cluster.cli(["status"])).code).toBe(0);
    chmodSync(kept, 0o644);
    const exposed = await cluster.cli(["status"]);
    expect([exposed.code, exposed.stderr]).toEqual([0, expect.stringContaining("other users could read")]);
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect((await cluster.cli(["logout"])).code).toBe(0);
    expect((await cluster.cli(["status"])).code).toBe(4);
    const garbage = await cluster.cli(["login", "--manual"], { input: "not a token\n" });
    expect(garbage.code).toBe(2);
    const past = `e30.${Buffer.from('{"exp":1}').toString("base64url")}.x`;
    const late = await cluster.cli(["login", "--manual"], { input: past });
    expect([late.code, late.stderr]).toEqual([2, expect.stringContaining("the token expired at 1970")]);
  });

  test("a token pasted at a terminal is not echoed", async () => {
    const bob = await token("--user", "bob", "--tenant", "default");
    const screen = tmux.open('login --flow manual; echo "status=$?"', { cols: 100, rows: 24 });
    await screen.shows(/Paste the token and press Enter:/);
    screen.type(`${bob}\n`);
    const [shown] = await screen.shows(/[\s\S]*Logged in to[\s\S]*status=0/);
    expect(shown).not.toContain(bob.slice(0, 20));
    expect((await cluster.cli(["status"])).code).toBe(0);
    expect((await cluster.cli(["logout"])).code).toBe(0);
    const given = tmux.open('login --manual; echo "status=$?"', { cols: 100, rows: 24 });
    await given.shows(/Paste the token/);
    given.keys("C-c");
    await given.shows(/login cancelled[\s\S]*status=2/);
  });

  test("an exhausted budget notifies only the tenant's administrators, by webhook too", async () => {
    const art = ["--tenant", "art"];
    const notices = async (...flags: string[]): Promise<string> =>
      (await cluster.cli(["notices"], { env: { LATTICE_TOKEN: await token(...flags) } })).stdout;
    const reported = await eventually(
      { what: "the webhook has the notice" },
      async () => taken.find(({ type }) => type === "notice") ?? null,
    );
    expect(reported.notice).toMatchObject({ kind: "budget_exhausted", tenant: "art" });
    const text = /budget exhausted: tenant "art" has used \d{3,} % of its budget/;
    expect(await notices("--user", "ida", ...art, "--scope", "tenant:admin")).toMatch(text);
    expect(await notices("--user", "zoe", ...art)).not.toMatch(text);
    expect(await notices("--user", "eve", "--tenant", "elsewhere", "--scope", "tenant:admin")).not.toMatch(text);
  });
});
