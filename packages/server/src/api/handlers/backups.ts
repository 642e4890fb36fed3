// Creates, lists, verifies and restores backups. The configuration decides where backups may be stored;
// `apply` decides what a restore may replace.

import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { ProblemError, pb, problemFromRefusal } from "@lattice/wire";
import { checkText, invalid } from "../../base/problems.ts";
import type { BackupRecord } from "../../state/backup/backups.ts";
import { BackupError, type BackupErrorCode } from "../../state/backup/format/backup-error.ts";
import { PlaceError } from "../../state/backup/places.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { originOf } from "./commit.ts";
import { once } from "./once.ts";

/** Longer than any path. */
const MAX_SOURCE_LENGTH = 4_096;

export async function createBackup(call: Call, request: pb.CreateBackupRequest): Promise<pb.Backup> {
  authorize(call.principal, "AdminService.CreateBackup", UNOWNED);
  checkText("destination", request.destination, MAX_SOURCE_LENGTH);
  return explained("destination", async () => {
    // The backup must contain everything that any server acknowledged before this call.
    await call.plane.waitForHead(call.signal);
    return once(call, {
      origin: originOf(call, pb.CreateBackupRequestSchema, request),
      schema: pb.BackupSchema,
      async act(write) {
        const written = await call.plane.backups.create(request.destination, call.signal);
        const answer = toProto(written);
        await write("backup.create", { scope: "cluster", detail: written.source }, answer);
        return answer;
      },
    });
  });
}

export async function listBackups(call: Call, request: pb.ListBackupsRequest): Promise<pb.ListBackupsResponse> {
  authorize(call.principal, "AdminService.ListBackups", UNOWNED);
  checkText("destination", request.destination, MAX_SOURCE_LENGTH);
  return explained("destination", async () => {
    const backups = await call.plane.backups.list(request.destination, call.signal);
    return create(pb.ListBackupsResponseSchema, { backups: backups.map(toProto) });
  });
}

export async function verifyBackup(call: Call, request: pb.VerifyBackupRequest): Promise<pb.VerifyBackupResponse> {
  authorize(call.principal, "AdminService.VerifyBackup", UNOWNED);
  checkText("source", request.source, MAX_SOURCE_LENGTH);
  return explained("source", async () => {
    const { stored, found } = await call.plane.backups.verify(request.source, call.signal);
    return create(pb.VerifyBackupResponseSchema, {
      ok: found.ok,
      backup: toProto({ ...stored, metadata: found.metadata, sha256: found.sha256 }),
      checks: found.checks.map((check) => ({ ...check })),
    });
  });
}

export async function restoreBackup(call: Call, request: pb.RestoreBackupRequest): Promise<pb.RestoreBackupResponse> {
  authorize(call.principal, "AdminService.RestoreBackup", UNOWNED);
  const source = request.source === "" ? request.path : request.source;
  checkText("source", source, MAX_SOURCE_LENGTH);
  if (source === "") throw invalid("source", "is missing", "Name the backup; a list is at /api/v1/admin/backups.");
  return explained("source", async () => {
    const { plane } = call;
    const { restored, ...record } = await plane.backups.restore(source, plane, {
      cluster: request.clusterId,
      // No request id: a stored answer would prevent a repeated request from continuing an interrupted restore.
      origin: { user: call.principal.user, requestId: null, bodyHash: "" },
      signal: call.signal,
      refused: ({ refusal }) => ProblemError.of(problemFromRefusal(refusal)),
    });
    await plane.waitFor(restored.index, call.signal);
    return create(pb.RestoreBackupResponseSchema, {
      backup: toProto(record),
      logIndex: String(restored.index),
      stateHash: plane.stateHash(),
    });
  });
}

const CODES = {
  missing: "unknown_backup",
  not_a_backup: "backup_unusable",
  too_new: "backup_unusable",
  torn: "backup_unusable",
  damaged: "backup_unusable",
  ambiguous: "backup_unusable",
  unavailable: "backup_failed",
} as const satisfies Record<BackupErrorCode, string>;

async function explained<T>(field: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof PlaceError) throw invalid(field, error.message);
    if (error instanceof BackupError) throw new ProblemError(CODES[error.code], { detail: sentence(error.message) });
    throw error;
  }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Uses the metadata of the backup, or its file name when the metadata cannot be read. */
function toProto({ source, bytes, createdAtMs, metadata, sha256 }: BackupRecord): pb.Backup {
  const createdAt = timestamp(metadata === null ? createdAtMs : Date.parse(metadata.created_at));
  const common = { source, createdAt, bytes, sha256: sha256 ?? "" };
  if (metadata === null) return create(pb.BackupSchema, common);
  return create(pb.BackupSchema, {
    ...common,
    logIndex: String(metadata.log_index),
    term: String(metadata.term),
    stateHash: metadata.state_hash,
    allocations: metadata.counts.allocations,
    nodes: metadata.counts.nodes,
    historyRecords: metadata.counts.history_records,
    auditRecords: metadata.audit?.records ?? 0,
    serverVersion: metadata.server_version,
    format: metadata.format,
    clusterId: metadata.cluster ?? "",
  });
}

const timestamp = (ms: number): Timestamp =>
  create(TimestampSchema, { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 });
