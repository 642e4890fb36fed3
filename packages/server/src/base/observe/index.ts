// Logging and metrics for the rest of the server.
export { createLogger, type Logger } from "./logger.ts";
export { createMetrics, type Metrics } from "./metrics.ts";
export { logStderr, reportFatal } from "./stderr.ts";
