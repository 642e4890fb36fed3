// The configuration as the server sees it: complete, frozen, and derived from the table of settings. Defaults that follow from other
// settings are filled in, paths are absolute, and secrets are resolved. Only `load.ts` makes one; nothing inside the server
// supplies a default of its own.

import { join, resolve } from "node:path";
import { type Duration, type Hook, type NetworkSettings, parseTenantId, seconds } from "@lattice/core";
import { MEMBER_NAME } from "@lattice/wire";
import { type AuthConfig, authOf } from "./auth.ts";
import { type S3Options, s3Options } from "./s3.ts";
import { formatListen, isLoopback, type ListenAddress } from "./schema/values.ts";
import { type EnvironmentVariables, readSecret } from "./secret.ts";
import type { Settings } from "./table/index.ts";
import type { AccessMode } from "./table/server.ts";
import { webhookSecret } from "./webhook-secret.ts";

type Replace<T, Changes> = Omit<T, keyof Changes> & Readonly<Changes>;

export type TlsConfig = {
  /** Absolute paths of PEM files. */
  readonly cert: string;
  readonly key: string;
  /** `null` when clients are not asked for certificates. */
  readonly ca: string | null;
  /** `null` when this server renews no certificates. */
  readonly caKey: string | null;
  readonly crl: string | null;
  readonly agentLifetime: Settings["api"]["tlsAgentLifetime"];
  /** When false, only agents and peers need a certificate, or a token. */
  readonly requireClientCertificates: boolean;
};

export interface WebhookConfig extends Hook {
  readonly url: string;
  readonly secret: string;
}

export interface FabricConfig {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string | null;
  readonly timeoutMs: number;
  readonly owner: string;
  readonly servicesPath: string;
  readonly domainsPath: string;
}

export type AuditConfig = Replace<
  Settings["audit"],
  {
    /** Absolute. */
    dir: string;
  }
>;

export type BackupConfig = Replace<
  Settings["backup"],
  {
    /** An absolute path or s3://bucket/prefix. */
    destination: string;
    /** Where backups go, and are looked for, without a configured destination. Absolute. */
    defaultDir: string;
    /** `null` without scheduled backups. */
    interval: Settings["backup"]["interval"] | null;
    s3: S3Options | null;
  }
>;

type EtcdConfig = Replace<
  Settings["quorum"]["etcd"],
  {
    peerAddress: string;
    /** Absolute paths of PEM files. */
    tls: {
      readonly ca: string;
      readonly cert: string | null;
      readonly key: string | null;
      /** `null`: every certificate of the authority belongs to a member. */
      readonly memberName: string | null;
    } | null;
  }
>;

export type Config = Replace<
  Settings,
  {
    server: Replace<Settings["server"], { id: string }>;
    /** `peers` are the other servers, by id. */
    quorum: Replace<Settings["quorum"], { dataDir: string; etcd: EtcdConfig }>;
    api: Replace<
      Settings["api"],
      {
        advertiseGrpc: ListenAddress;
        metricsAccess: "open" | "token";
        auth: AuthConfig;
        tls: TlsConfig | null;
      }
    >;
    scheduler: Replace<Settings["scheduler"], { traceCapture: boolean; tracePath: string }>;
    logs: { readonly store: string | null; readonly s3: S3Options | null };
    audit: AuditConfig;
    backup: BackupConfig;
    notifications: { readonly webhooks: readonly WebhookConfig[] };
    /** `null` without a fabric manager. */
    fabric: FabricConfig | null;
    log: Replace<Settings["log"], { access: AccessMode }>;
    /** Every key with the value as written and its source, secrets masked. */
    stated: Readonly<Record<string, Stated>>;
  }
>;

export interface Stated {
  readonly source: "flag" | "file" | "environment" | "default";
  /** JSON, with secrets masked. */
  readonly value: string;
}

/** Port of etcd peers without a configured address. */
const PEER_PORT = 9000;

export const serverId = (nodeId: number): string => `server-${nodeId}`;

export function configOf(settings: Settings, environment: EnvironmentVariables): Omit<Config, "stated"> {
  const dataDir = resolve(settings.server.dataDir);
  const { server, quorum, api, audit, backup, logs, log } = settings;
  const auth = authOf(api, environment);
  return {
    ...settings,
    server: { ...server, id: server.id ?? serverId(quorum.nodeId), dataDir },
    quorum: quorumOf(quorum, dataDir),
    api: {
      ...api,
      advertiseGrpc: api.advertiseGrpc ?? api.grpcListen,
      metricsAccess: api.metricsAccess ?? (auth.kind === "none" || isLoopback(api.restListen.host) ? "open" : "token"),
      auth,
      tls: tlsOf(api),
    },
    scheduler: { ...settings.scheduler, ...traceOf(settings.scheduler) },
    logs: { store: placeOf(logs.store), s3: s3Options(logs.s3, environment) },
    audit: { ...audit, dir: join(dataDir, "audit") },
    backup: {
      ...backup,
      destination: placeOf(backup.destination) ?? join(dataDir, "backups"),
      defaultDir: join(dataDir, "backups"),
      interval: backup.destination === null || backup.interval === 0 ? null : backup.interval,
      s3: s3Options(backup.s3, environment),
    },
    notifications: { webhooks: settings.notifications.webhooks.map((hook) => webhookOf(hook, environment)) },
    fabric: fabricOf(settings.fabric, environment),
    log: { ...log, access: log.access ?? (auth.kind === "none" ? "none" : "all") },
  };
}

/** Values in force that differ from the file: they follow from other settings, or are paths made absolute. */
export const DERIVED: Readonly<Record<string, (config: Config) => unknown>> = {
  "server.id": ({ server }) => server.id,
  "server.data_dir": ({ server }) => server.dataDir,
  "quorum.data_dir": ({ quorum }) => quorum.dataDir,
  "quorum.etcd.peer_address": ({ quorum }) => quorum.etcd.peerAddress,
  "api.advertise_grpc": ({ api }) => formatListen(api.advertiseGrpc),
  "api.metrics_access": ({ api }) => api.metricsAccess,
  "api.oidc_token_cache_seconds": ({ api }) => (api.auth.kind === "none" ? null : api.auth.tokenCacheSeconds),
  "api.oidc_introspection_client": ({ api }) =>
    api.auth.kind === "oidc" ? (api.auth.introspection?.clientId ?? null) : null,
  "api.tls_cert": ({ api }) => api.tls?.cert ?? null,
  "api.tls_key": ({ api }) => api.tls?.key ?? null,
  "api.tls_ca": ({ api }) => api.tls?.ca ?? null,
  "api.tls_ca_key": ({ api }) => api.tls?.caKey ?? null,
  "api.tls_crl": ({ api }) => api.tls?.crl ?? null,
  "scheduler.trace_capture": ({ scheduler }) => scheduler.traceCapture,
  "scheduler.trace_path": (config) => traceTarget(config).path,
  "logs.store": ({ logs }) => logs.store,
  "logs.s3.endpoint": ({ logs }) => logs.s3?.endpoint ?? null,
  "logs.s3.region": ({ logs }) => logs.s3?.region ?? null,
  "backup.destination": ({ backup }) => backup.destination,
  "backup.s3.endpoint": ({ backup }) => backup.s3?.endpoint ?? null,
  "backup.s3.region": ({ backup }) => backup.s3?.region ?? null,
  "log.access": ({ log }) => log.access,
};

/** The part of the configuration that `apply` needs, as the state stores it. */
export const networkSettings = ({ network }: Pick<Config, "network">): NetworkSettings => ({
  vniStart: network.vniPoolStart,
  vniEnd: network.vniPoolEnd,
  maxDomainsPerTenant: network.maxDomainsPerTenant,
  grace: network.gracePeriod,
  autoDomains: network.autoDomains,
  ...(network.driver === "fabric_manager" ? { managed: true } : {}),
  ...(network.dataGateway === null ? {} : { dataGateway: network.dataGateway }),
});

/** Age at which a fingerprint counts as unknown; `null` when it never does. */
export const fingerprintWindow = ({ scheduler }: Config): Duration | null =>
  scheduler.fingerprintWindowDays === 0 ? null : seconds(scheduler.fingerprintWindowDays * 86_400);

export interface TraceTarget {
  /** An absolute path, or s3://bucket/prefix. */
  readonly path: string;
  /** Default directory of traces, and of pieces on their way to an object store. Absolute. */
  readonly dir: string;
}

export function traceTarget({ scheduler, server }: Pick<Config, "scheduler" | "server">): TraceTarget {
  const dir = join(server.dataDir, "traces");
  const { tracePath } = scheduler;
  return { path: tracePath.startsWith("s3:") ? tracePath : resolve(dir, tracePath), dir };
}

function quorumOf(quorum: Settings["quorum"], serverDataDir: string): Config["quorum"] {
  const { etcd, nodeId, peers } = quorum;
  const own = etcd.peerAddress ?? peers.find(({ id }) => id === nodeId)?.address;
  return {
    ...quorum,
    dataDir: pathOf(quorum.dataDir) ?? join(serverDataDir, "log"),
    peers: peers.filter(({ id }) => id !== nodeId).sort((a, b) => a.id - b.id),
    etcd: {
      ...etcd,
      peerAddress: own ?? formatListen({ host: "127.0.0.1", port: PEER_PORT }),
      tls:
        etcd.tls === null
          ? null
          : {
              ca: resolve(etcd.tls.ca),
              cert: pathOf(etcd.tls.cert ?? null),
              key: pathOf(etcd.tls.key ?? null),
              memberName: etcd.tls.member_name === undefined ? MEMBER_NAME : etcd.tls.member_name,
            },
    },
  };
}

function tlsOf(api: Settings["api"]): TlsConfig | null {
  if (api.tlsCert === null || api.tlsKey === null) return null;
  return {
    cert: resolve(api.tlsCert),
    key: resolve(api.tlsKey),
    ca: pathOf(api.tlsCa),
    caKey: pathOf(api.tlsCaKey),
    crl: pathOf(api.tlsCrl),
    agentLifetime: api.tlsAgentLifetime,
    requireClientCertificates: api.tlsRequireClientCertificates,
  };
}

function traceOf({
  traceCapture,
  tracePath,
}: Settings["scheduler"]): Pick<Config["scheduler"], "traceCapture" | "tracePath"> {
  if (typeof traceCapture === "string") return { traceCapture: true, tracePath: resolve(traceCapture) };
  return { traceCapture, tracePath: tracePath ?? "trace.jsonl" };
}

function webhookOf(
  hook: Settings["notifications"]["webhooks"][number],
  environment: EnvironmentVariables,
): WebhookConfig {
  const secret = webhookSecret(hook, environment);
  return {
    name: hook.name,
    url: hook.url,
    secret: secret?.kind === "found" ? secret.value : "",
    tenant: hook.tenant === undefined ? null : parseTenantId(hook.tenant),
    states: hook.states,
    notices: hook.notices,
  };
}

function fabricOf(fabric: Settings["fabric"], environment: EnvironmentVariables): FabricConfig | null {
  if (fabric.managerUrl === null) return null;
  const secret = fabric.managerToken === null ? null : readSecret(fabric.managerToken, environment);
  return {
    url: fabric.managerUrl.replace(/\/+$/, ""),
    token: secret?.kind === "found" ? secret.value : null,
    timeoutMs: fabric.timeout,
    owner: fabric.owner,
    servicesPath: fabric.servicesPath,
    domainsPath: fabric.domainsPath,
  };
}

const pathOf = (path: string | null): string | null => (path === null ? null : resolve(path));

const placeOf = (place: string | null): string | null =>
  place === null || place.startsWith("s3:") ? place : resolve(place);
