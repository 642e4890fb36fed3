// `lattice admin raft`: who the members are, who leads, how far the log is, and changing the first two.

import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../../context.ts";
import { askOnTerminal } from "../../output/ask-first.ts";
import { showFields } from "./fields.ts";
import { megabytes, showMembers } from "./raft-members.ts";

export function defineRaft(command: Command): void {
  const status = command.command("status").description("Who leads, how far the log is, and every member");
  status.action(async () => showStatus(await createContext(status)));

  const add = command
    .command("add-member")
    .description("Tell the cluster of a server that will be started with --join");
  add.argument("<id>", "the server's id").requiredOption("--peer-address <address>", "host:port of its etcd peer port");
  add.action(async (id: string, { peerAddress }: { readonly peerAddress: string }) => {
    const { client, print, settings } = await createContext(add);
    const answer = await client.members.add({ id, peer_address: peerAddress });
    if (print.structured) return print.document(answer);
    if (settings.quiet) return print.line(id);
    print.note(`${id} is a member. Start it now: lattice-server --config FILE --join ADDRESS-OF-A-MEMBER`);
    showMembers(print, answer.members ?? []);
  });

  const remove = command.command("remove-member").description("Remove a member, running or lost");
  remove.argument("<id>", "the server's id, or the name or id of its etcd member").option("--yes", "do not ask");
  remove.action(async (id: string, flags: { readonly yes?: boolean }) => {
    const { client, print, settings } = await createContext(remove);
    await askOnTerminal(flags.yes, `Remove the member ${id}? Its copy of the log is given up.`, `${id} not removed`);
    const answer = await client.members.remove(id);
    if (print.structured) return print.document(answer);
    if (settings.quiet) return print.line(id);
    print.note(`${id} is no longer a member.`);
    showMembers(print, answer.members ?? []);
  });

  const transfer = command.command("transfer-leader").description("Let another server lead");
  transfer
    .argument("[id]", "the server that shall lead; otherwise the one that is furthest")
    .option("--yes", "do not ask");
  transfer.action(async (id: string | undefined, flags: { readonly yes?: boolean }) => {
    const context = await createContext(transfer);
    const question = `Let ${id ?? "another server"} lead? Changes wait until it does.`;
    await askOnTerminal(flags.yes, question, "the leader stays");
    await transferLeader(context, id);
  });
}

async function showStatus({ client, print, settings }: Context): Promise<void> {
  const state = await client.clusterStatus();
  if (print.structured) return print.document(state);
  if (settings.quiet) return print.lines((state.members ?? []).map(({ id }) => id));
  showFields(print, [
    ["Engine", state.engine],
    ["Leader", state.leader],
    ["This server leads", state.is_leader ?? false],
    ["Term", state.term],
    ["Last index", state.last_index],
    ["Applied index", state.applied_index],
    ["Snapshot index", state.snapshot_index],
    ["State hash", state.state_hash],
    ["Log size", state.log_bytes === undefined ? undefined : megabytes(state.log_bytes)],
    ["Writable", state.writable ?? false],
    ["Not writable because", state.unwritable_reason],
  ]);
  const members = state.members ?? [];
  if (members.length === 0) return;
  print.line("");
  showMembers(print, members);
}

async function transferLeader({ client, print }: Context, to: string | undefined): Promise<void> {
  const answer = await client.members.transferLeader(to);
  if (print.structured) await print.document(answer);
  else print.done(answer.leader, `${answer.leader} leads, term ${answer.term ?? "unknown"}.`);
  if (to === undefined || answer.leader === to) return;
  throw new ProblemError("conflict", {
    detail: `${to} did not take over in time; ${answer.leader} leads.`,
    hint: "Look at `lattice admin raft status`, then try again.",
  });
}
