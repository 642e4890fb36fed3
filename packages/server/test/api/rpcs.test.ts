// The page that lists every RPC: its route, how far each role reaches, its limit, and the test that calls it. An RPC
// that no test calls fails here; a test that is named and does not call it fails there.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { pb, routes } from "@lattice/wire";
import { expect, test } from "vitest";
import { PROXY_NAME, RULES, type Rule, type RuleName } from "../../src/api/access/rules.ts";
import { describeLimit } from "../../src/api/limits/rpc-limits.ts";
import { type RpcName, SERVICES } from "../../src/api/rpc.ts";
import { ROLES } from "../../src/base/auth/principal.ts";
import { loadConfig } from "../../src/base/config/index.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const PAGE = join(ROOT, "docs/reference/rpcs.md");
const HERE = "packages/server/test/api";
/** Those that count what they call, and fail when a call that is theirs was not answered well. */
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

/** What the programs of a cluster call of each other: by gRPC alone, and no role of a person opens it. */
const INNER = [
  {
    service: pb.AgentService,
    who: "Called by agents alone: with the certificate of the node that is spoken for, or with a token of the scope `agent` and that node's name ([identity.md](../operating/identity.md)).",
    test: `${HERE}/fuzz/agents.test.ts`,
  },
  {
    service: pb.PeerService,
    who: "Called by servers of the same cluster alone: with the token that stands beside their name in the election, and with the certificate of a server where there are certificates.",
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
  // Whoever adds one prints the page before there is a test of it.
  if (process.env.UPDATE === "1") return;
  const untested = all.map(({ service, method }) => nameOf(service, method)).filter((rpc) => testOf(rpc) === null);
  expect(untested, `call them in a test of ${HERE}`).toEqual([]);
});

test("every change takes a request id; what takes none is a question, or part of a launch", () => {
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

test.each(INNER)("every RPC of $service.name is walked by its test", ({ service, test: path }) => {
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

Every call, over gRPC and REST alike; \`/v1\` is an alias of \`/api/v1\`. A role reaches \`all\`, what belongs to its \`tenant\`, its
\`own\` in that tenant, what is \`mine\` (its own in whatever tenant), or nothing (–); a caller with several roles reaches as far as the widest. Limits are those of the configuration's
defaults, per user; \`general\` ones are shared by all calls. Printed from the contract, the table of access and the table of
limits by the test that checks it.

Beside them REST serves, to everybody, \`/healthz\`, \`/readyz\`, \`/metrics\`, \`/api/v1/auth/discovery\`, \`/api/v1/openapi.json\` and
\`/api/v1/docs\`. What the services of running work are asked through the server, and
the WebSockets, are the last table; a service that the caller may not speak to is as unknown as one that is not there.

Every call that changes something takes a \`request_id\`. For a day the same id with the same request, from the same caller, is answered as the first was and
changes nothing; with another request it is \`request_conflict\`. That is kept in the state, so that any server knows it. What is done outside of the log
(\`CreateBackup\`, \`RemoveMember\`, \`TransferLeader\`) is kept when it is done; one that failed is tried again. These take the id and do not compare it, because
asking twice is harmless in itself: \`AddMember\` (a server that is there is not added again), \`RestoreBackup\` (named by the backup's own hash, it goes on where it
stopped), \`SetSignals\` (signals replace each other as a whole), \`WarmCache\` and \`EvictImage\` (a node that has the image, or has it no more, does nothing).
Input and news of a launch (\`SendTaskInput\`, \`ControlLaunch\`) have none.

${sections.join("\n")}
${INNER.map(innerSection).join("\n")}
## Other ways in

| Way | Path | ${ROLES.join(" | ")} | limit | test |
|---|---|${"---|".repeat(ROLES.length + 2)}
${OTHER_WAYS.map(wayRow).join("\n")}

## Sensitive work

What work says, measures and does is its submitter's alone in a sensitive vCluster, whoever administers the cluster. Its state is seen as that of any other.

| RPC | ${ROLES.join(" | ")} |
|---|${"---|".repeat(ROLES.length)}
${SENSITIVE.map((rpc) => `| ${rpc} | ${reachesOf(rpc, true).join(" | ")} |`).join("\n")}
`;
}

const ruleOf = (rpc: RuleName): Rule => RULES[rpc];
const SENSITIVE = (Object.keys(RULES) as RuleName[]).filter((rpc) => ruleOf(rpc).sensitive !== undefined);

const DOORS = `${HERE}/access-doors.test.ts`;
const OTHER_WAYS: readonly { way: string; path: string; rule: RuleName }[] = [
  { way: "terminal (WebSocket)", path: "GET /api/v1/allocations/{id}/attach", rule: "SessionService.Attach" },
  { way: "session (WebSocket)", path: "GET /api/v1/sessions/{id}/terminal", rule: "SessionService.Attach" },
  { way: "service (HTTP)", path: "any /api/v1/services/{name}/proxy/*", rule: PROXY_NAME },
  { way: "service (WebSocket)", path: "GET /api/v1/services/{name}/proxy/*", rule: PROXY_NAME },
];

function wayRow({ way, path, rule }: (typeof OTHER_WAYS)[number]): string {
  const limit = describeLimit(rule, true, loadConfig(null).rateLimits);
  return `| ${way} | \`${path}\` | ${reachesOf(rule).join(" | ")} | ${limit} | ${linkTo(DOORS)} |`;
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
