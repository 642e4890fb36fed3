// `lattice admin`: commands for administrators, one group per resource.

import type { Command } from "commander";
import { defineAuditKey } from "./admin/audit-key.ts";
import { defineBackup } from "./admin/backup.ts";
import { defineConfig } from "./admin/config.ts";
import { defineEnrolment } from "./admin/enrolment.ts";
import { defineGrant } from "./admin/grant.ts";
import { defineJobKey } from "./admin/job-key.ts";
import { defineMetrics } from "./admin/metrics.ts";
import { defineNetwork } from "./admin/network.ts";
import { definePki } from "./admin/pki.ts";
import { defineRaft } from "./admin/raft.ts";
import { defineRestore } from "./admin/restore.ts";
import { defineScheduler } from "./admin/scheduler.ts";
import { defineSignals } from "./admin/signals.ts";
import { defineTenant } from "./admin/tenant.ts";
import { defineToken } from "./admin/token.ts";
import { defineVCluster } from "./admin/vcluster.ts";
import { defineDrain } from "./node.ts";

export function define(command: Command): void {
  defineTenant(command.command("tenant").description("Tenants and their quotas"));
  defineVCluster(command.command("vcluster").description("vClusters: queues with a scheduler each"));
  defineDrain(command);
  defineConfig(command.command("config").description("Settings of the running servers"));
  defineScheduler(command.command("scheduler").description("State of the scheduler"));
  defineMetrics(command.command("metrics").description("Server metrics"));
  defineNetwork(command.command("network").description("Network domains"));
  defineRaft(command.command("raft").description("The replicated log"));
  defineBackup(command.command("backup").description("Write, list and verify backups of the whole cluster"));
  defineToken(command.command("token").description("Tokens signed with the shared secret"));
  definePki(command.command("pki").description("A certificate authority, for clusters that have none"));
  defineEnrolment(command.command("enrolment").description("Tokens for the first certificates of new nodes"));
  defineGrant(command.command("grant").description("Roles of users in tenants"));
  defineJobKey(command.command("job-key").description("The key that signs job tokens"));
  defineAuditKey(command.command("audit-key").description("The key that signs audit records"));
  defineSignals(
    command.command("signals").description("External signals for the scheduler: prices, power, congestion"),
  );
  defineRestore(command.command("restore").description("Restore a backup into an empty cluster"));
}
