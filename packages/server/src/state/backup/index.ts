// The public part of backups.
export { BackupError, type BackupErrorCode } from "./backup-error.ts";
export type { BackupRecord, Backups } from "./backups.ts";
export { PlaceError } from "./places.ts";
export { recoverFrom } from "./recover.ts";
export { startBackupSchedule } from "./schedule/act.ts";
export { createBackups } from "./service.ts";
export type { Check, Verification } from "./verification.ts";
export { verifyAnywhere } from "./verify.ts";
