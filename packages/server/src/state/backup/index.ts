// The public part of backups.
export type { Backups } from "./backups.ts";
export { recoverFrom } from "./recover.ts";
export { startBackupSchedule } from "./schedule/act.ts";
export { createBackups } from "./service.ts";
export { verifyAnywhere } from "./verify.ts";
