// What the rest of the server may use to be observed.
export { createLogger, type Logger, type LoggerOptions } from "./logger.ts";
export { createMetrics, type Metrics } from "./metrics.ts";
