// The format of a backup: one file, `backup-<time>.tar.gz`, with `metadata.json`, the snapshot exactly as a replica
// writes it, the segments of the history, and the audit archive. The metadata comes first, so that a list of backups
// reads only the start of each file; it names every other part with its size and hash.

import { z } from "zod";
import { BackupError } from "./backup-error.ts";

/** Version of the file; a newer one is refused. */
export const BACKUP_FORMAT = 1;

export const METADATA_PART = "metadata.json";
export const SNAPSHOT_PART = "snapshot.jsonl";
export const HISTORY_FOLDER = "history/";
export const AUDIT_FOLDER = "audit/";
/** Each part takes a name, a size and a hash: some hundred bytes. */
export const MAX_METADATA_BYTES = 16 * 1024 * 1024;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().min(0);

const partSchema = z.object({ name: z.string().min(1).max(200), bytes: count, sha256: hash });
export type BackupPart = z.output<typeof partSchema>;

const metadataSchema = z.object({
  format: count.min(1),
  created_at: z.iso.datetime(),
  server_version: z.string(),
  /** The identity of the cluster; `null` for a cluster that has none yet. */
  cluster: z.string().nullable(),
  log_index: count,
  term: count,
  chain_hash: z.string(),
  state_hash: hash,
  counts: z.object({ allocations: count, nodes: count, tenants: count, vclusters: count, history_records: count }),
  /** The entry up to which the history has no gap. */
  history_through: count,
  /**
   * The audit archive: from `floor` on, `below` the first record of the snapshot. `whole`: no record between them was
   * missing. Undefined in backups of versions without it.
   */
  audit: z.object({ records: count, floor: count.min(1), below: count.min(1), whole: z.boolean() }).optional(),
  members: z.array(z.object({ id: z.string(), address: z.string() })),
  parts: z.array(partSchema).min(1),
});
export type BackupMetadata = z.output<typeof metadataSchema>;

export function parseMetadata(text: string): BackupMetadata {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new BackupError("not_a_backup", `its ${METADATA_PART} is not JSON`, { cause });
  }
  const format = typeof value === "object" && value !== null && "format" in value ? value.format : undefined;
  if (typeof format === "number" && format > BACKUP_FORMAT) {
    const known = `this program reads formats up to ${BACKUP_FORMAT}`;
    throw new BackupError("too_new", `it has format ${format}, but ${known}: use a newer one`);
  }
  const parsed = metadataSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new BackupError(
    "not_a_backup",
    `its ${METADATA_PART} is not usable: ${issue?.path.join(".")} ${issue?.message}`,
  );
}

const NAME = /^backup-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z\.tar\.gz$/;

/** Names a backup by the second: `backup-20260305T120000Z.tar.gz`. */
export const backupName = (atMs: number): string =>
  `backup-${new Date(atMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z.tar.gz`;

/** Returns the time of a backup from its name, in milliseconds; `null` for another name. */
export function timeOfName(name: string): number | null {
  const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
  if (year === undefined) return null;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) || backupName(at) !== name ? null : at;
}

export const checksumName = (name: string): string => `${name}.sha256`;

/** In the format of `sha256sum`, so that `sha256sum -c` checks it. */
export const checksumText = (sha256: string, name: string): string => `${sha256}  ${name}\n`;

export const parseChecksum = (text: string): string | null => /^([0-9a-f]{64}) {2}\S+\n?$/.exec(text)?.[1] ?? null;
