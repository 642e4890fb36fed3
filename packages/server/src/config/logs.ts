// The logs section: where agents keep output for good, so that this server can read it there. Agents
// are told by their own flags; both must name the same place.

import { resolve } from "node:path";
import { parseS3 } from "@lattice/wire";
import { z } from "zod";
import type { S3Options } from "../backup/stores/s3.ts";
import { section } from "./fields.ts";
import { s3Options, s3Problems, s3Section } from "./s3.ts";
import type { Environment } from "./secret.ts";

export interface LogsConfig {
  /** An absolute path or s3://bucket/prefix; null: output is on the nodes alone. */
  readonly store: string | null;
  /** Null: there are no credentials. */
  readonly s3: S3Options | null;
}

export const logsSection = section({
  store: z
    .string()
    .min(1)
    .refine((text) => !text.startsWith("s3:") || parseS3(text) !== null, {
      error: "is not a place in an object store; write s3://bucket/prefix",
    })
    .optional(),
  s3: s3Section(),
});

type ParsedLogs = z.output<typeof logsSection>;

export function logsProblems(
  logs: ParsedLogs,
  environment: Environment,
): readonly { readonly path: string[]; readonly message: string }[] {
  return s3Problems(logs.s3, environment, logs.store?.startsWith("s3:") === true);
}

export const completeLogs = (logs: ParsedLogs, environment: Environment): LogsConfig => ({
  store: logs.store === undefined ? null : logs.store.startsWith("s3:") ? logs.store : resolve(logs.store),
  s3: s3Options(logs.s3, environment),
});
