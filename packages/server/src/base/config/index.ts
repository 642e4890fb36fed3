// The configuration of a server: one table of settings, and the values that follow from a file and from changes at run time.
export { type AuthConfig, issuerWarning } from "./auth.ts";
export {
  type AuditConfig,
  type BackupConfig,
  type Config,
  type FabricConfig,
  fingerprintWindow,
  networkSettings,
  serverId,
  type TlsConfig,
  type TraceTarget,
  traceTarget,
  type WebhookConfig,
} from "./config.ts";
export { createLiveConfig, type LiveConfig } from "./live.ts";
export { type ConfigOverrides, loadConfig } from "./load.ts";
export { ConfigError } from "./problem.ts";
export type { S3Options } from "./s3.ts";
export { formatListen, isLoopback, type ListenAddress, parseListen } from "./schema/values.ts";
export { type AccessMode, LOG_LEVELS, type LogLevel } from "./table/server.ts";
export { fetchVaultSecrets } from "./vault.ts";
