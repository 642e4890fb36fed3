// The arguments and the handle of a server process.

import type { Clock } from "../base/clock.ts";
import type { Config } from "../base/config/index.ts";
import type { Logger } from "../base/observe/index.ts";
import type { LogStart } from "../log/log-config.ts";

export interface RunningServer {
  readonly rest: string;
  readonly grpc: string;
  /** Resolves with the reason when the server must stop. */
  readonly failed: Promise<unknown>;
  /** Reloads the certificate files. */
  reload(): void;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  readonly clock?: Clock;
  /** The backup of a new cluster, by path or s3://bucket/key. */
  readonly recoverFrom?: string | undefined;
  /** How the own log member starts without data. Default: resume. */
  readonly begin?: LogStart;
}
