// Settings of which the value in force is not what the file says: names and places that follow from others, paths made absolute, and a
// feature that is not there.

import { NO_ACCOUNTING } from "./accounting.ts";
import type { Config } from "./config.ts";
import { formatListen } from "./listen.ts";
import type { KnownSetting } from "./setting.ts";

export const DERIVED_SETTINGS: readonly KnownSetting[] = [
  { key: "server.id", read: ({ server }) => server.id },
  { key: "server.data_dir", read: ({ server }) => server.dataDir },
  { key: "quorum.data_dir", read: ({ quorum }) => quorum.dataDir },
  { key: "quorum.etcd.peer_address", read: ({ quorum }) => quorum.etcd.peerAddress },
  { key: "api.advertise_grpc", read: ({ api }) => formatListen(api.advertiseGrpc) },
  { key: "api.oidc_believed_seconds", read: (config) => ruled(config)?.believedSeconds ?? null },
  { key: "api.oidc_introspection_client", read: (config) => introspection(config)?.clientId ?? null },
  { key: "api.tls_cert", read: ({ api }) => api.tls?.cert ?? null },
  { key: "api.tls_key", read: ({ api }) => api.tls?.key ?? null },
  { key: "api.tls_ca", read: ({ api }) => api.tls?.ca ?? null },
  { key: "api.tls_ca_key", read: ({ api }) => api.tls?.caKey ?? null },
  { key: "api.tls_crl", read: ({ api }) => api.tls?.crl ?? null },
  { key: "logs.store", read: ({ logs }) => logs.store },
  { key: "logs.s3.endpoint", read: ({ logs }) => logs.s3?.endpoint ?? null },
  { key: "logs.s3.region", read: ({ logs }) => logs.s3?.region ?? null },
  { key: "audit.signing_key_path", read: ({ audit }) => audit.signingKeyPath },
  { key: "backup.destination", read: ({ backup }) => backup.destination },
  { key: "backup.s3.endpoint", read: ({ backup }) => backup.s3?.endpoint ?? null },
  { key: "backup.s3.region", read: ({ backup }) => backup.s3?.region ?? null },
  { key: "log.access", read: ({ log }) => log.access },
  { key: "accounting.enabled", check: (_config, value) => (value === true ? NO_ACCOUNTING : null) },
];

const ruled = ({ api }: Config) => (api.auth.kind === "none" ? null : api.auth);
const introspection = ({ api }: Config) => (api.auth.kind === "oidc" ? api.auth.introspection : null);
