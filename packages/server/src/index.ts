// The public surface of the server package: what tests and tools may start.
export { type Clock, systemClock } from "./clock.ts";
export { type Config, loadConfig } from "./config/index.ts";
export { createLogger } from "./observe/index.ts";
export { type RunningServer, startServer } from "./server.ts";
