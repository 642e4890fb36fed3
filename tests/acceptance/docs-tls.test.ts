// Runs the page on TLS on one server and one node: the authority's commands, a server with the page's settings, agents
// with its command lines, and a revoked certificate. Folders and addresses are replaced by those of the test.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { HOST } from "../harness/host.ts";
import { runBlock, startShell } from "../harness/pages.ts";
import { endProcessesIn, processesIn } from "../harness/processes.ts";
import { type Program, root, startProgram, tailOf } from "../harness/program.ts";

const NODE = "nid001234";
const dir = mkdtempSync(join(tmpdir(), "lattice-test-tls-docs-"));
const secretFile = join(dir, "secret");
const page = readFileSync(join(root, "docs/operating/tls.md"), "utf8")
  .replaceAll("/etc/lattice", join(dir, "etc"))
  .replaceAll("10.0.0.1", HOST)
  .replaceAll("lattice-01:50051", `${HOST}:50051`);
const blocks = (kind: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map((match) => match[1] ?? "");
const [authority = "", ...further] = blocks("sh run");
const [byCertificate = "", byToken = ""] = blocks("sh run background");
/** Every setting of the page. */
const settings = blocks("yaml").flatMap((text) => text.split("\n").filter((line) => line.startsWith("  ")));

afterAll(async () => {
  await endProcessesIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

const ENV = { HOME: dir, LATTICE_SPIRE_SOCKET: join(dir, "no.sock") };
const run = (text: string): Promise<void> => runBlock(text, { cwd: dir, env: ENV });

/** With its own data folder, which the page leaves at its default. */
const agent = (text: string, name: string, env: Readonly<Record<string, string>> = {}) =>
  startShell(`exec env ${text.trim()} --data-dir ${join(dir, name)} > ${join(dir, `${name}.log`)} 2>&1`, {
    cwd: dir,
    env: { ...ENV, ...env },
  });

let server: Program | null = null;
async function serve(wanted: (setting: string) => boolean): Promise<void> {
  await server?.stop();
  const config = join(dir, "server.yaml");
  const own = [`  oidc_hmac_secret: "file://${secretFile}"`, `  advertise_grpc: ${HOST}:50051`];
  writeFileSync(config, ["api:", ...settings.filter(wanted), ...own, ""].join("\n"));
  const listen = ["--rest-listen", `${HOST}:8080`, "--grpc-listen", `${HOST}:50051`];
  const args = ["--config", config, "--data-dir", join(dir, "server"), ...listen];
  server = startProgram("lattice-server", { args, logFile: join(dir, "server.log") });
  await server.ready();
}

async function token(...flags: string[]): Promise<string> {
  return (await runCli(["admin", "token", "create", "--secret-file", secretFile, ...flags])).stdout.trim();
}

async function connected(): Promise<boolean> {
  const env = {
    LATTICE_API_URL: `https://${HOST}:8080`,
    LATTICE_CA: join(dir, "etc/tls/ca.crt"),
    LATTICE_TOKEN: await token("--user", "root", "--scope", "admin"),
    HOME: dir,
  };
  const { stdout } = await runCli(["nodes", NODE, "-o", "json"], { env });
  return stdout !== "" && (JSON.parse(stdout) as { connected?: boolean }).connected === true;
}

const isConnected = (wanted: boolean) =>
  eventually({ what: `the node is ${wanted ? "" : "not "}connected` }, async () =>
    (await connected()) === wanted ? true : null,
  );

async function endAgents(...names: string[]): Promise<void> {
  for (const name of names) await endProcessesIn(join(dir, name));
  await isConnected(false);
}

test("tls.md does what it says", async () => {
  expect([further.length, settings.length]).toEqual([1, 7]);
  writeFileSync(secretFile, "this secret is long enough for the hash it keys\n", { mode: 0o600 });
  await run(authority);
  mkdirSync(join(dir, "etc/tls"), { recursive: true });
  const copied = { "lattice-01": "server", [NODE]: "agent", ca: "ca" };
  for (const [name, as] of Object.entries(copied))
    for (const end of as === "ca" ? ["crt"] : ["crt", "key"])
      copyFileSync(join(dir, "etc/pki", `${name}.${end}`), join(dir, "etc/tls", `${as}.${end}`));
  await serve((setting) => !setting.includes("tls_crl"));

  agent(byCertificate, "first");
  await isConnected(true);
  await endAgents("first");

  agent(byToken, "second", { TOKEN: await token("--user", NODE, "--scope", "agent") });
  await isConnected(true);
  expect(readFileSync(join(dir, "second/agent.crt"), "utf8")).toContain("BEGIN CERTIFICATE");
  await endAgents("second");

  for (const block of further) await run(block);
  await serve(() => true);
  agent(byCertificate, "third");
  await eventually({ what: "the log names the revocation" }, () =>
    tailOf(join(dir, "third.log"), 50).includes("revoked") ? true : null,
  );
  expect(await connected()).toBe(false);
  expect(processesIn(join(dir, "third")).length).toBeGreaterThan(0);
});
