// `lattice admin`: what administrators do, one group of commands per resource.

import type { Command } from "commander";
import { defineRaft } from "./admin/raft.ts";
import { defineTenant } from "./admin/tenant.ts";
import { defineVCluster } from "./admin/vcluster.ts";
import { defineDrain } from "./node.ts";

export function define(command: Command): void {
  defineTenant(command.command("tenant").description("Tenants and their quotas"));
  defineVCluster(command.command("vcluster").description("vClusters: queues with a scheduler each"));
  defineDrain(command);
  defineRaft(command.command("raft").description("The replicated log"));
}
