// What the rest of the server may use of the configuration.
export { type Config, type EtcdConfig, LOG_LEVELS, type LogLevel } from "./config.ts";
export { formatListen, isLoopback, type ListenAddress, parseListen } from "./listen.ts";
export { ConfigError, type ConfigOverrides, type ConfigProblem, loadConfig } from "./load.ts";
export { type HowToBegin, logConfigOf, memberName } from "./log-config.ts";
