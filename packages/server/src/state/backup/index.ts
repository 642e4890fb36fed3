// The public part of backups.
export type { Backups } from "./backups.ts";
export { recoverFrom } from "./recover.ts";
export { createBackups } from "./service.ts";
export { verifyAnywhere } from "./verify.ts";
