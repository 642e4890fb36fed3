// Settings of one server: its identity, its log, its listeners and what it logs.

import { AGENT_URIS } from "@lattice/wire";
import { z } from "zod";
import { live, optional, setting } from "../schema/setting.ts";
import { address, choice, count, endpoint, label, listen, span, text, url } from "../schema/values.ts";

/** RFC 6749, appendix A.4. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/;
const MAX_SCOPES = 32;
/** A site has a portal or two. */
const MAX_ORIGINS = 32;

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
const ACCESS_MODES = ["all", "refused", "none"] as const;
export type AccessMode = (typeof ACCESS_MODES)[number];

export const server = {
  id: optional(
    label(),
    { unset: "server-<quorum.node_id>", example: "lattice-01" },
    "Name of this server in logs, in status answers and in elections.",
  ),
  data_dir: setting(
    text(),
    "lattice-data",
    "Directory of everything the server stores; relative to the working directory.",
  ),
  production: setting(
    z.boolean(),
    false,
    "Refuses conveniences of a workstation: tenants created by a misspelt name, and a log that is lost with the process.",
  ),
};

const etcd = {
  endpoints: setting(
    z.array(endpoint(), { error: "must be a list of endpoints" }),
    [],
    "An existing etcd cluster, 3.4 or newer. With managed: true, further members to fall back on.",
  ),
  managed: setting(
    z.boolean(),
    false,
    "Start and supervise an etcd member on this machine. The member outlives the server; the next server adopts it.",
  ),
  prefix: setting(
    z
      .string()
      .regex(/^\/[A-Za-z0-9._/-]{1,200}$/, "must begin with a slash, of letters, digits, dots, dashes and slashes"),
    "/lattice/main",
    "Prefix of all keys of this cluster. Clusters that share an etcd need one each.",
  ),
  binary: optional(
    text(),
    { unset: "the first etcd on the PATH (Debian: etcd-server)", example: "/usr/bin/etcd" },
    "The etcd program.",
  ),
  // etcd grants no shorter lease; a longer one makes every failover an outage.
  lease_seconds: setting(
    count(2, 60),
    3,
    "Seconds until a vanished leader is replaced, 2 to 60. With 2, a leader that is short of CPU time may lose leadership.",
  ),
  client_listen: setting(
    address(),
    "127.0.0.1:2379",
    "Where the managed member serves its server. On loopback without tls, the server creates a certificate that only itself has. An address other than loopback needs tls.",
  ),
  peer_address: optional(
    address(),
    { unset: "this server's entry under peers, else 127.0.0.1:9000", example: "lattice-01:9000" },
    "Where other members reach the managed one. An address other than loopback needs tls.",
  ),
  peer_listen: optional(
    address(),
    { unset: "peer_address, or 0.0.0.0 where that is a name", example: "10.0.0.1:9000" },
    "Address that the managed member binds for its peers.",
  ),
  tls: optional(
    z.strictObject({
      ca: text(),
      cert: text().optional(),
      key: text().optional(),
      member_name: label().nullable().optional(),
    }),
    {
      unset: "no TLS",
      example: {
        ca: "/etc/lattice/tls/ca.pem",
        cert: "/etc/lattice/tls/server.pem",
        key: "/etc/lattice/tls/server-key.pem",
      },
    },
    "PEM files. With managed: true the members use them among themselves too, and accept only certificates with the host name member_name, by default etcd.lattice.internal; null: every certificate of ca, for an authority that signs members only.",
  ),
};

export const quorum = {
  engine: setting(
    choice(["embedded", "memory", "etcd"], "must be embedded, memory or etcd"),
    "embedded",
    "Storage of the log. embedded: the local disk, for one server. etcd: shared by three or five servers, see docs/operating/several-servers.md. memory: none, for tests.",
  ),
  node_id: setting(count(1, 1_000), 1, "Number of this server among its peers."),
  data_dir: optional(
    text(),
    { unset: "<server.data_dir>/log", example: "/var/lib/lattice/log" },
    "Segments and snapshots of the log. Put it on a disk that honours flushes.",
  ),
  snapshot_every_entries: setting(
    count(10, 10_000_000),
    20_000,
    "Entries between two snapshots; a restart replays at most about as many.",
  ),
  peers: setting(
    z
      .array(z.strictObject({ id: count(1, 1_000), address: address() }), { error: "must be a list of id and address" })
      .max(15, { error: "must be at most 15; three or five is usual" }),
    [],
    'The servers that share the log, for engine etcd with managed: true, such as { id: 2, address: "lattice-02:9000" }. The address is used between etcd members. This server may be in the list.',
  ),
  etcd,
};

const authentication = {
  oidc_issuer: optional(
    url("https://id.example.com"),
    { unset: "no authentication by tokens of a provider", example: "https://id.example.com" },
    "An OpenID Connect provider; every caller presents one of its tokens. See docs/operating/identity.md.",
  ),
  oidc_client_id: optional(
    text(),
    { unset: "none", example: "lattice" },
    "The audience that tokens must have; required with oidc_issuer.",
  ),
  oidc_hmac_secret: optional(
    text(),
    { unset: "the variable LATTICE_OIDC_HMAC_SECRET, where it is set", example: "file:///etc/lattice/hmac-secret" },
    "Reference to a shared secret of at least 32 characters that signs tokens instead of a provider; for small sites and tests.",
  ),
  oidc_tenant_claim: setting(text(), "tenant", "The claim that names the caller's tenant."),
  oidc_default_tenant: optional(
    text(),
    { unset: "calls that need a tenant are refused", example: "guests" },
    "The tenant of tokens without that claim.",
  ),
  oidc_leeway_seconds: setting(z.number().int().min(0).max(300), 30, "Tolerated difference of the provider's clock."),
  oidc_scopes: setting(
    z.array(z.string().regex(SCOPE, "must be a scope: one word")).max(MAX_SCOPES),
    [],
    "Scopes that logins request in addition to the usual ones, such as [admin, operator] where scopes grant roles.",
  ),
  oidc_client_secret: optional(
    text(),
    { unset: "the provider is not asked about revocation", example: "vault://lattice/oidc" },
    "Reference to the secret with which the provider is asked whether a token was revoked.",
  ),
  oidc_introspection_client: optional(
    text(),
    { unset: "oidc_client_id", example: "lattice-server" },
    "Client id of this server at the provider's introspection endpoint.",
  ),
  oidc_token_cache_seconds: optional(
    z.number().int().min(1).max(300),
    { unset: "300, and 60 where the provider is asked about revocation", example: 60 },
    "Seconds for which a verified token is accepted without another check, 1 to 300.",
  ),
};

const certificates = {
  tls_cert: optional(
    text(),
    { unset: "no TLS", example: "/etc/lattice/tls/server.crt" },
    "Certificate (PEM) of both listeners; needs tls_key.",
  ),
  tls_key: optional(
    text(),
    { unset: "no TLS", example: "/etc/lattice/tls/server.key" },
    "Private key of tls_cert (PEM).",
  ),
  tls_ca: optional(
    text(),
    { unset: "clients are not asked for certificates", example: "/etc/lattice/tls/ca.crt" },
    "The authority that signs the certificates of agents and servers.",
  ),
  tls_ca_key: optional(
    text(),
    { unset: "this server renews no certificates", example: "/etc/lattice/pki/ca.key" },
    "The authority's key, with which this server renews the certificates of agents.",
  ),
  tls_crl: optional(
    text(),
    { unset: "no certificate is revoked", example: "/etc/lattice/pki/ca.crl" },
    "Certificates that the authority has revoked.",
  ),
  // Agents renew after two thirds of the lifetime; seconds are for tests.
  tls_agent_lifetime: setting(span("5s", "3660d"), "90d", "Lifetime of the certificates issued to agents."),
  spiffe_agents: setting(
    z.string().regex(/^spiffe:\/\/[^/\s]+(\/[^/\s]+)*\/\{node\}$/, "must be a SPIFFE URI that ends with /{node}"),
    AGENT_URIS,
    "The SPIFFE URIs of agents, such as spiffe://alps/agent/{node}; {site} stands for any trust domain. URIs of other forms name no node.",
  ),
  tls_require_client_certificates: setting(z.boolean(), false, "Refuse every gRPC caller without a certificate."),
};

const origin = z
  .string()
  .refine(
    (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && new URL(value).origin === value,
    "must be an origin, such as https://portal.example.org",
  );

export const api = {
  grpc_listen: setting(listen(), "127.0.0.1:50051", "gRPC listener: clients and agents."),
  rest_listen: setting(listen(), "127.0.0.1:8080", "REST listener: the API, events, /healthz, /readyz and /metrics."),
  advertise_grpc: optional(
    listen(),
    { unset: "grpc_listen", example: "lattice-01:50051" },
    "Where the other servers reach the gRPC listener of this one.",
  ),
  allow_unauthenticated: setting(
    z.boolean(),
    false,
    "Allow listeners outside loopback without authentication. Every caller that reaches the port is then an administrator.",
  ),
  auto_create_tenants: live(
    setting(z.boolean(), false, "Create an unknown tenant when a submission names it. Must be false in production."),
  ),
  metrics_access: optional(
    choice(["open", "token"]),
    { unset: "open; token where rest_listen is beyond loopback and authentication is configured", example: "token" },
    "Access to /metrics: open, or with a token of a role that sees the whole cluster (admin, operator, readonly). The metrics name tenants and allocations.",
  ),
  headers_timeout: setting(span("200ms", "10m"), "20s", "Time limit for the headers of a request."),
  request_timeout: setting(
    span("200ms", "1h"),
    "60s",
    "Time limit for a whole request with its body; over gRPC for its first message.",
  ),
  token_recheck_interval: setting(
    span("100ms", "1h"),
    "5m",
    "Interval at which the token of an open stream is checked again.",
  ),
  proxy_answer_timeout: setting(
    span("100ms", "1h"),
    "60s",
    "Time limit for the first byte of a proxied service's answer.",
  ),
  ...authentication,
  allowed_origins: setting(
    z.array(origin).max(MAX_ORIGINS),
    [],
    "Origins whose pages may call the API from browsers, such as https://portal.example.org; needs authentication.",
  ),
  ...certificates,
};

export const log = {
  level: live(setting(choice(LOG_LEVELS), "info", "trace, debug, info, warn, error, fatal or silent.")),
  access: optional(
    choice(ACCESS_MODES),
    { unset: "all; none without authentication", example: "all" },
    "Which requests are logged with their caller, at any level: all, refused or none.",
  ),
};
