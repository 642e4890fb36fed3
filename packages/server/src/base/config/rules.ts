// Rules between settings. They run on the whole file, so that every problem is reported at once and a server that could not work is
// refused before it opens anything.

import { parseTenantId } from "@lattice/core";
import { authOf, authProblems } from "./auth.ts";
import type { ConfigProblem } from "./problem.ts";
import { s3Problems } from "./s3.ts";
import { isLoopback, parseListen } from "./schema/values.ts";
import { type EnvironmentVariables, readSecret } from "./secret.ts";
import type { Settings } from "./table/index.ts";
import { webhookSecret } from "./webhook-secret.ts";

/** Shorter secrets of webhooks can be guessed. */
const MIN_HOOK_SECRET = 16;
/** A shorter interval would leave no time between backups. */
const MIN_BACKUP_INTERVAL_MS = 1_000;

export const NO_ACCOUNTING =
  "cannot be true: this version does not support accounting systems; see GET /api/v1/accounting and lattice history";

type Problems = readonly ConfigProblem[];

export const problemsOf = (settings: Settings, environment: EnvironmentVariables): Problems => [
  ...quorumProblems(settings.quorum),
  ...authProblems(settings.api, environment),
  ...originProblems(settings.api, environment),
  ...tlsProblems(settings.api),
  ...backupProblems(settings.backup, environment),
  ...when(settings.accounting.enabled, "accounting.enabled", NO_ACCOUNTING),
  ...below("logs", s3Problems({ s3: settings.logs.s3, place: settings.logs.store }, environment)),
  ...networkProblems(settings),
  ...webhookProblems(settings.notifications.webhooks, environment),
  ...fabricProblems(settings.fabric, environment),
  ...liveProblems(settings),
  ...when(
    settings.server.production && settings.quorum.engine === "memory",
    "quorum.engine",
    "must not be memory when server.production is true: the log would be lost with a restart",
  ),
];

/** The rules that a change at run time could break. */
export const liveProblems = ({
  nodeAgent,
  server,
  api,
}: {
  readonly nodeAgent: Pick<Settings["nodeAgent"], "heartbeatInterval" | "heartbeatTimeout">;
  readonly server: Pick<Settings["server"], "production">;
  readonly api: Pick<Settings["api"], "autoCreateTenants">;
}): Problems => [
  ...when(
    nodeAgent.heartbeatTimeout <= nodeAgent.heartbeatInterval,
    "node_agent.heartbeat_timeout",
    "must be longer than node_agent.heartbeat_interval",
  ),
  ...when(
    server.production && api.autoCreateTenants,
    "api.auto_create_tenants",
    "must not be true when server.production is true",
  ),
];

const when = (isWrong: boolean, path: string, message: string): Problems => (isWrong ? [{ path, message }] : []);

const below = (section: string, problems: Problems): Problems =>
  problems.map(({ path, message }) => ({ path: `${section}.${path}`, message }));

function quorumProblems({ engine, etcd, peers, nodeId }: Settings["quorum"]): Problems {
  const { tls } = etcd;
  const isManaged = engine === "etcd" && etcd.managed;
  const ownAddress = etcd.peerAddress ?? peers.find(({ id }) => id === nodeId)?.address;
  const peerAddresses = [ownAddress, etcd.peerListen, ...peers.map(({ address }) => address)].filter(
    (address) => typeof address === "string",
  );
  const isLocal = isLoopback(parseListen(etcd.clientListen)?.host ?? "");
  return below("quorum", [
    ...when(new Set(peers.map(({ id }) => id)).size < peers.length, "peers", "must not name an id twice"),
    ...when(
      tls !== null && (tls.cert === undefined) !== (tls.key === undefined),
      "etcd.tls",
      "must have both cert and key, or neither",
    ),
    ...when(
      engine === "etcd" && etcd.endpoints.length === 0 && !etcd.managed,
      "etcd",
      "must name endpoints, or be managed: true, when quorum.engine is etcd",
    ),
    ...when(
      isManaged && peers.some(({ id }) => id !== nodeId) && ownAddress === undefined,
      "etcd.peer_address",
      `is required: the address of this server for other members, here or in quorum.peers under id ${nodeId}`,
    ),
    ...when(
      isManaged && tls !== null && tls.cert === undefined,
      "etcd.tls.cert",
      "is required when etcd is managed: its members present it to each other",
    ),
    ...when(
      isManaged && tls === null && peerAddresses.some((address) => !isLoopback(parseListen(address)?.host ?? "")),
      "etcd.tls",
      "is required when members have addresses other than loopback: without TLS any host may replace the log",
    ),
    ...when(
      isManaged && !isLocal && tls === null,
      "etcd.client_listen",
      "must be on loopback unless quorum.etcd.tls is set: without TLS any caller may write",
    ),
  ]);
}

/** A page that may call without authentication would act for every visitor of that page. */
function originProblems(api: Settings["api"], environment: EnvironmentVariables): Problems {
  const isOpen = api.allowedOrigins.length > 0 && authOf(api, environment).kind === "none";
  return when(isOpen, "api.allowed_origins", "needs authentication (oidc_issuer): a page acts for its visitors");
}

function tlsProblems(api: Settings["api"]): Problems {
  const needAuthority = {
    tls_require_client_certificates: api.tlsRequireClientCertificates,
    tls_ca_key: api.tlsCaKey !== null,
    tls_crl: api.tlsCrl !== null,
  };
  return below("api", [
    ...when(
      (api.tlsCert === null) !== (api.tlsKey === null),
      api.tlsCert === null ? "tls_cert" : "tls_key",
      "is missing: both or none",
    ),
    ...when(api.tlsCa !== null && api.tlsCert === null, "tls_ca", "requires tls_cert and tls_key"),
    ...Object.entries(needAuthority).flatMap(([name, isSet]) =>
      when(isSet && api.tlsCa === null, name, "needs tls_ca"),
    ),
  ]);
}

const backupProblems = (
  { interval, destination, s3 }: Settings["backup"],
  environment: EnvironmentVariables,
): Problems =>
  below("backup", [
    ...when(
      interval > 0 && interval < MIN_BACKUP_INTERVAL_MS,
      "interval",
      "must be at least 1s, or 0s for backups on request only",
    ),
    ...s3Problems({ s3, place: destination }, environment),
  ]);

const networkProblems = ({ network, fabric }: Settings): Problems => [
  ...when(
    network.vniPoolEnd < network.vniPoolStart,
    "network.vni_pool_end",
    "must not be below network.vni_pool_start",
  ),
  ...when(
    network.driver === "fabric_manager" && fabric.managerUrl === null,
    "network.driver",
    "needs fabric.manager_url",
  ),
];

function webhookProblems(webhooks: Settings["notifications"]["webhooks"], environment: EnvironmentVariables): Problems {
  return webhooks.flatMap((hook, i) => {
    const path = `notifications.webhooks.${i}`;
    const secret = webhookSecret(hook, environment);
    return [
      ...when(secret === null, path, "must have a secret, a secret_file that can be read, or a secret_env that is set"),
      ...(secret?.kind === "missing" ? [{ path: `${path}.secret`, message: secret.problem }] : []),
      ...when(
        secret?.kind === "found" && secret.value.length < MIN_HOOK_SECRET,
        path,
        `must have a secret of at least ${MIN_HOOK_SECRET} characters`,
      ),
      ...when(
        hook.tenant !== undefined && parseTenantId(hook.tenant) === null,
        `${path}.tenant`,
        "is not a name for a tenant",
      ),
      ...when(
        webhooks.findIndex(({ name }) => name === hook.name) !== i,
        `${path}.name`,
        "is the name of another webhook",
      ),
    ];
  });
}

function fabricProblems({ managerToken }: Settings["fabric"], environment: EnvironmentVariables): Problems {
  const secret = managerToken === null ? null : readSecret(managerToken, environment);
  return secret?.kind === "missing" ? [{ path: "fabric.manager_token", message: secret.problem }] : [];
}
