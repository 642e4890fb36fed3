// The backup section: where backups go, how often, how long they stay, and how an object store is
// spoken to; without credentials a server that needs them does not start.

import { join, resolve } from "node:path";
import { type Duration, duration, seconds } from "@lattice/core";
import { parseS3 } from "@lattice/wire";
import { z } from "zod";
import type { BackupRetention } from "../backup/retention.ts";
import type { S3Options } from "../backup/stores/s3.ts";
import { section, span } from "./fields.ts";
import { s3Options, s3Problems, s3Section } from "./s3.ts";
import type { Environment } from "./secret.ts";

export interface BackupConfig {
  /** An absolute path or s3://bucket/prefix. */
  readonly destination: string;
  /** Where backups go, and are looked for, when nothing is configured. Absolute. */
  readonly defaultDir: string;
  /** Null: only when somebody asks. */
  readonly interval: Duration | null;
  readonly retention: BackupRetention;
  /** Null: there are no credentials. */
  readonly s3: S3Options | null;
}

const DAY_S = 86_400;
const YEARS_S = 3_650 * DAY_S;

export const backupSection = section({
  destination: z
    .string()
    .min(1)
    .refine((text) => !text.startsWith("s3:") || parseS3(text) !== null, {
      error: "is not a place in an object store; write s3://bucket/prefix",
    })
    .optional(),
  interval: span({ least: seconds(0), most: seconds(YEARS_S), preset: "1h" }),
  retention: section({
    all: span({ least: seconds(0), most: seconds(YEARS_S), preset: "7d" }),
    daily: span({ least: seconds(0), most: seconds(YEARS_S), preset: "30d" }),
    weekly: span({ least: seconds(0), most: seconds(YEARS_S), preset: "90d" }),
  }),
  s3: s3Section(),
});

type ParsedBackup = z.output<typeof backupSection>;

/** Shorter than this, backups would be taken one after the other. */
const LEAST_INTERVAL = duration(1_000);

export function backupProblems(
  backup: ParsedBackup,
  environment: Environment,
): readonly { readonly path: string[]; readonly message: string }[] {
  const problems: { path: string[]; message: string }[] = [];
  if (backup.interval > 0 && backup.interval < LEAST_INTERVAL) {
    problems.push({ path: ["interval"], message: "must be at least 1s, or 0s for none" });
  }
  const inStore = backup.destination?.startsWith("s3:") === true;
  return [...problems, ...s3Problems(backup.s3, environment, inStore)];
}

export function completeBackup(backup: ParsedBackup, dataDir: string, environment: Environment): BackupConfig {
  const { destination, interval, retention } = backup;
  const defaultDir = join(dataDir, "backups");
  return {
    destination:
      destination === undefined ? defaultDir : destination.startsWith("s3:") ? destination : resolve(destination),
    defaultDir,
    interval: destination === undefined || interval === 0 ? null : interval,
    retention: { allMs: retention.all, dailyMs: retention.daily, weeklyMs: retention.weekly },
    s3: s3Options(backup.s3, environment),
  };
}
