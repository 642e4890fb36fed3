// What the rest of the server may use of the configuration.
export type { BackupConfig } from "./backup.ts";
export { type Config, type EtcdConfig, LOG_LEVELS, type LogLevel } from "./config.ts";
export { formatListen, isLoopback, type ListenAddress, parseListen } from "./listen.ts";
export { createLiveConfig, type LiveConfig } from "./live.ts";
export { type ConfigOverrides, loadConfig } from "./load.ts";
export { etcdTlsOf, type HowToBegin, logConfigOf, memberName, serverId } from "./log-config.ts";
export { ConfigError, type ConfigProblem } from "./problem.ts";
export { fetchVaultSecrets } from "./vault.ts";
