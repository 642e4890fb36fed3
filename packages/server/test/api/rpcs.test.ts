// The page that lists every RPC with its route, the reach of each role, its limit, and the test that calls it. An RPC
// without a test fails here; a listed test that does not call its RPC fails there.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { pb, routes } from "@lattice/wire";
import { expect, test } from "vitest";
import { PROXY_NAME, RULES, type Rule, type RuleName } from "../../src/api/access/rules.ts";
import { type RpcName, SERVICES } from "../../src/api/call/rpc.ts";
import { describeLimit } from "../../src/api/limits/rpc-limits.ts";
import { ROLES } from "../../src/base/auth/principal.ts";
import { loadConfig } from "../../src/base/config/index.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const PAGE = join(ROOT, "docs/reference/rpcs.md");
const HERE = "packages/server/test/api";
/** Files that record their calls, and fail when a listed RPC was not answered successfully. */
const provers = readdirSync(join(ROOT, HERE))
  .filter((name) => name.endsWith(".test.ts") && name !== "rpcs.test.ts")
  .map((name) => ({ name, text: readFileSync(join(ROOT, HERE, name), "utf8") }))
  .filter(({ text }) => text.includes("provesCalls(import.meta.url)"));

function testOf(rpc: string): string | null {
  const named = provers.find(({ text }) => text.includes(`"${rpc}"`));
  return named === undefined ? null : `${HERE}/${named.name}`;
}

const all = SERVICES.flatMap((service) => service.methods.map((method) => ({ service, method })));
const nameOf = (service: DescService, method: DescMethod) => `${service.name}.${method.name}` as RpcName;

/** The services between the programs of a cluster: gRPC only, and no user role may call them. */
const INNER = [
  {
    service: pb.AgentService,
    who: "Called only by agents, with the certificate of their node, or with a token with the scope `agent` and the name of the node ([identity.md](../operating/identity.md)).",
    test: `${HERE}/fuzz/agents.test.ts`,
  },
  {
    service: pb.PeerService,
    who: "Called only by servers of the same cluster, with the token in the election, and with a server certificate if the cluster has an authority.",
    test: "tests/acceptance/quorum.test.ts",
  },
] as const;

function innerSection({ service, who, test: path }: (typeof INNER)[number]): string {
  const rows = service.methods.map(({ name, methodKind }) => `| ${name}${KINDS[methodKind]} | ${linkTo(path)} |`);
  return `## ${service.name}\n\n${who}\n\n| RPC | test |\n|---|---|\n${rows.join("\n")}\n`;
}

const KINDS = {
  unary: "",
  server_streaming: " (stream)",
  client_streaming: " (stream)",
  bidi_streaming: " (both ways)",
};
const linkTo = (path: string): string => `[${path.split("/").at(-1)}](../../${path})`;

test("every RPC is called by a test", () => {
  // UPDATE=1 prints the page before a new RPC has a test.
  if (process.env.UPDATE === "1") return;
  const untested = all.map(({ service, method }) => nameOf(service, method)).filter((rpc) => testOf(rpc) === null);
  expect(untested, `call them in a test of ${HERE}`).toEqual([]);
});

test("every change has a request id; only queries and launches have none", () => {
  const reads = new Set(
    routes().flatMap(({ service, method, httpMethod }) => (httpMethod === "GET" ? [`${service}.${method}`] : [])),
  );
  const without = all
    .filter(
      ({ method }) => method.methodKind === "unary" && !method.input.fields.some(({ name }) => name === "request_id"),
    )
    .map(({ service, method }) => nameOf(service, method))
    .filter((rpc) => !reads.has(rpc));
  expect(without.sort()).toEqual(["TaskService.ControlLaunch", "TaskService.SendTaskInput"]);
});

test.each(INNER)("every RPC of $service.name is called by its test", ({ service, test: path }) => {
  expect(readFileSync(join(ROOT, path), "utf8")).toContain(`pb.${service.name}.methods`);
});

test("the generated page docs/reference/rpcs.md is up to date (UPDATE=1 rewrites it)", () => {
  const page = rpcReference();
  if (process.env.UPDATE === "1") writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, "utf8")).toBe(page);
});

function rpcReference(): string {
  const sections = SERVICES.map((service) => {
    const rows = service.methods.map((method) => rowOf(service, method));
    return `## ${service.name}\n\n| RPC | REST | ${ROLES.join(" | ")} | limit | test |\n|---|---|${"---|".repeat(ROLES.length + 2)}\n${rows.join("\n")}\n`;
  });
  return `# RPCs

Every call over gRPC and REST; \`/v1\` is an alias of \`/api/v1\`. A role reaches \`all\`, the objects of its \`tenant\`, its
\`own\` in that tenant, \`mine\` (its own in any tenant), or nothing (–); a caller with several roles has the widest reach. Limits are
the defaults, per user; \`general\` limits are shared by all calls. This page is generated from the contract, the table of access
rules and the table of limits.

REST also serves, without authentication, \`/healthz\`, \`/readyz\`, \`/metrics\`, \`/api/v1/auth/discovery\`,
\`/api/v1/openapi.json\` and \`/api/v1/docs\`. The proxy to services and the WebSockets are in the last table; a service out of the
caller's reach is reported as unknown.

Every call that changes something has a \`request_id\`. For a day, the same id with the same request of the same caller gets the first
answer and changes nothing; with another request it is \`request_conflict\`. This is part of the state, so it holds on every server.
For actions outside the log (\`CreateBackup\`, \`RemoveMember\`, \`TransferLeader\`) the answer is stored after success; a failed action
is tried again. These calls accept the id and do not compare it, because they can be repeated: \`AddMember\` (an existing server is not
added again), \`RestoreBackup\` (continues where it stopped), \`SetSignals\` (replaces all signals), \`WarmCache\` and \`EvictImage\` (no
effect when already done). \`SendTaskInput\` and \`ControlLaunch\` have no id.

${sections.join("\n")}
${INNER.map(innerSection).join("\n")}
## Other interfaces

| Interface | Path | ${ROLES.join(" | ")} | limit | test |
|---|---|${"---|".repeat(ROLES.length + 2)}
${OTHER_WAYS.map(wayRow).join("\n")}

## Sensitive work

In a sensitive vCluster only the owner reaches the content of work: output, metrics, tasks and terminals. Administrators of the
cluster do not. Its state is visible like that of other work.

| RPC | ${ROLES.join(" | ")} |
|---|${"---|".repeat(ROLES.length)}
${SENSITIVE.map((rpc) => `| ${rpc} | ${reachesOf(rpc, true).join(" | ")} |`).join("\n")}
`;
}

const ruleOf = (rpc: RuleName): Rule => RULES[rpc];
const SENSITIVE = (Object.keys(RULES) as RuleName[]).filter((rpc) => ruleOf(rpc).sensitive !== undefined);

const INTERFACES = `${HERE}/access-interfaces.test.ts`;
const OTHER_WAYS: readonly { way: string; path: string; rule: RuleName }[] = [
  { way: "terminal (WebSocket)", path: "GET /api/v1/allocations/{id}/attach", rule: "SessionService.Attach" },
  { way: "session (WebSocket)", path: "GET /api/v1/sessions/{id}/terminal", rule: "SessionService.Attach" },
  { way: "service (HTTP)", path: "any /api/v1/services/{name}/proxy/*", rule: PROXY_NAME },
  { way: "service (WebSocket)", path: "GET /api/v1/services/{name}/proxy/*", rule: PROXY_NAME },
];

function wayRow({ way, path, rule }: (typeof OTHER_WAYS)[number]): string {
  const limit = describeLimit(rule, true, loadConfig(null).rateLimits);
  return `| ${way} | \`${path}\` | ${reachesOf(rule).join(" | ")} | ${limit} | ${linkTo(INTERFACES)} |`;
}

function reachesOf(rpc: RuleName, sensitive = false): string[] {
  const { reach, sensitive: closer } = ruleOf(rpc);
  return ROLES.map((role) => ((sensitive ? closer : undefined) ?? reach)[role]).map((far) =>
    far === "none" ? "–" : far,
  );
}

function rowOf(service: DescService, method: DescMethod): string {
  const rpc = nameOf(service, method);
  const paths = routes()
    .filter((route) => route.rpc === method && !route.path.startsWith("/v1/"))
    .map(
      ({ httpMethod, path }) =>
        `\`${httpMethod} ${path
          .replaceAll("::", "\u0000")
          .replace(/:([a-z_]+)/g, "{$1}")
          .replaceAll("\u0000", ":")}\``,
    );
  const streams = method.methodKind !== "unary";
  const reach = reachesOf(rpc);
  const limit = describeLimit(rpc, streams, loadConfig(null).rateLimits);
  const name = `${method.name}${KINDS[method.methodKind]}`;
  return `| ${name} | ${paths.join("<br>") || "WebSocket"} | ${reach.join(" | ")} | ${limit} | ${linkTo(testOf(rpc) ?? "none")} |`;
}
