// The log of who did what: which key signs it, and how long it is kept.

import { join, resolve } from "node:path";
import { type Duration, seconds } from "@lattice/core";
import { z } from "zod";
import { section, span } from "./fields.ts";

export interface AuditConfig {
  /** Absolute. */
  readonly dir: string;
  readonly signingKeyPath: string;
  /** False: a key is made when there is none. */
  readonly keyConfigured: boolean;
  readonly retention: Duration;
}

const DAY_S = 86_400;

export const auditSection = section({
  signing_key_path: z.string().min(1).optional(),
  // Seven years.
  retention: span({ least: seconds(DAY_S), most: seconds(36_525 * DAY_S), preset: "2557d" }),
});

export function completeAudit(file: z.output<typeof auditSection>, dataDir: string): AuditConfig {
  const dir = join(dataDir, "audit");
  const configured = file.signing_key_path !== undefined;
  return {
    dir,
    signingKeyPath: file.signing_key_path === undefined ? join(dir, "signing-key.pem") : resolve(file.signing_key_path),
    keyConfigured: configured,
    retention: file.retention,
  };
}
