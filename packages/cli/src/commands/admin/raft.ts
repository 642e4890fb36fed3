// `lattice admin raft status`: who leads, how far the log is, and whether it can be written.

import type { ClusterMember } from "@lattice/sdk";
import type { Command } from "commander";
import { createContext } from "../../context.ts";
import { showFields } from "./fields.ts";

export function defineRaft(command: Command): void {
  const status = command.command("status").description("Who leads, and how far the log is");
  status.action(async () => {
    const { client, print } = await createContext(status);
    const state = await client.clusterStatus();
    if (print.structured) return print.document(state);
    showFields(print, [
      ["Engine", state.engine],
      ["Leader", state.leader],
      ["This server leads", state.is_leader ?? false],
      ["Term", state.term],
      ["Last index", state.last_index],
      ["Applied index", state.applied_index],
      ["Snapshot index", state.snapshot_index],
      ["State hash", state.state_hash],
      ["Log size", state.log_bytes === undefined ? undefined : `${Math.ceil(state.log_bytes / 1024)} kB`],
      ["Writable", state.writable ?? false],
      ["Not writable because", state.unwritable_reason],
    ]);
    const members = state.members ?? [];
    if (members.length === 0) return;
    print.line("");
    print.table<ClusterMember>(
      [
        { header: "MEMBER", value: ({ id }) => id },
        { header: "ADDRESS", value: ({ address }) => address ?? "" },
        { header: "LEADER", value: ({ leader }) => (leader === true ? "yes" : "no") },
        { header: "HEALTHY", value: ({ healthy }) => (healthy === true ? "yes" : "no") },
      ],
      members,
    );
  });
}
