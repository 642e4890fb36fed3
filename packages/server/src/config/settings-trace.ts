// Capturing can be switched, and sent elsewhere, while servers run. Then only a place below the data folder or one in an
// object store may be named, so that a setting is no way to the rest of a server's disk.

import { isAbsolute } from "node:path";
import type { Config } from "./config.ts";
import type { KnownSetting } from "./setting.ts";
import { placeOf, type TraceConfig } from "./trace.ts";

export const TRACE_SETTINGS: readonly KnownSetting[] = [
  {
    key: "scheduler.trace_capture",
    read: ({ scheduler }) => scheduler.trace.on,
    check: (_config, value) =>
      typeof value === "boolean" ? null : "must be true or false; scheduler.trace_path is where to",
    write: (config, { scheduler }) => withTrace(config, { on: scheduler.trace_capture === true }),
  },
  {
    key: "scheduler.trace_path",
    read: ({ scheduler }) => scheduler.trace.path,
    check: (config, value) => {
      const place = String(value);
      if (isAbsolute(place)) return "must be a name below the servers' data folders, or s3://bucket/prefix";
      if (!place.startsWith("s3:") || config.backup.s3 !== null) return null;
      return "needs credentials: set them under backup.s3 in the file, or in the environment";
    },
    write: (config, { scheduler }) =>
      withTrace(config, { path: placeOf(scheduler.trace_path ?? "trace.jsonl", config.scheduler.trace.dir) }),
  },
];

const withTrace = (config: Config, change: Partial<TraceConfig>): Config => ({
  ...config,
  scheduler: { ...config.scheduler, trace: { ...config.scheduler.trace, ...change } },
});
