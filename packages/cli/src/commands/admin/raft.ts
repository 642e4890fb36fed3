// `lattice admin raft`: the members, the leader and the log of the cluster; adds and removes members, transfers the lead.

import type { Member } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../../context.ts";
import { confirmOnTerminal } from "../../output/confirm.ts";
import type { Printer } from "../../output/printer.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";
import { showFields } from "./fields.ts";

export function defineRaft(command: Command): void {
  const status = command.command("status").description("Show the leader, the log and all members");
  status.action(async () => showStatus(await createContext(status)));

  const add = command.command("add-member").description("Add a server, which is then started with --join");
  add.argument("<id>", "server id").requiredOption("--peer-address <address>", "host:port of the server's etcd peer");
  add.action(async (id: string, { peerAddress }: { readonly peerAddress: string }) => {
    const { client, print, settings } = await createContext(add);
    const answer = await client.members.add({ id, peer_address: peerAddress });
    if (print.structured) return print.document(answer);
    if (settings.quiet) return print.line(id);
    print.note(`Added member ${id}. Start it with: lattice-server --config FILE --join ADDRESS-OF-A-MEMBER`);
    showMembers(print, answer.members ?? []);
  });

  const remove = command.command("remove-member").description("Remove a running or lost member");
  remove.argument("<id>", "server id, or name or id of its etcd member").option("--yes", "do not ask");
  remove.action(async (id: string, flags: { readonly yes?: boolean }) => {
    const { client, print, settings } = await createContext(remove);
    await confirmOnTerminal(flags.yes, `Remove member ${id}? Its copy of the log is discarded.`, `${id} not removed`);
    const answer = await client.members.remove(id);
    if (print.structured) return print.document(answer);
    if (settings.quiet) return print.line(id);
    print.note(`Removed member ${id}.`);
    showMembers(print, answer.members ?? []);
  });

  const transfer = command.command("transfer-leader").description("Transfer the lead to another server");
  transfer.argument("[id]", "new leader (default: the most up-to-date server)").option("--yes", "do not ask");
  transfer.action(async (id: string | undefined, flags: { readonly yes?: boolean }) => {
    const context = await createContext(transfer);
    const question = `Transfer the lead to ${id ?? "another server"}? Changes wait until it leads.`;
    await confirmOnTerminal(flags.yes, question, "lead not transferred");
    await transferLeader(context, id);
  });
}

async function showStatus({ client, print, settings }: Context): Promise<void> {
  const state = await client.clusterStatus();
  if (print.structured) return print.document(state);
  if (settings.quiet) return print.lines((state.members ?? []).map(({ id }) => id));
  showFields(print, [
    ["Cluster", state.cluster_id],
    ["Engine", state.engine],
    ["Leader", state.leader],
    ["This server is leader", state.is_leader ?? false],
    ["Term", state.term],
    ["Last index", state.last_index],
    ["Applied index", state.applied_index],
    ["Snapshot index", state.snapshot_index],
    ["State hash", state.state_hash],
    ["Log size", state.log_bytes === undefined ? undefined : megabytes(state.log_bytes)],
    ["Writable", state.writable ?? false],
    ["Read-only because", state.unwritable_reason],
  ]);
  const members = state.members ?? [];
  if (members.length === 0) return;
  print.line("");
  showMembers(print, members);
}

async function transferLeader({ client, print }: Context, to: string | undefined): Promise<void> {
  const answer = await client.members.transferLeader(to);
  if (print.structured) await print.document(answer);
  else print.done(answer.leader, `Leader is ${answer.leader}, term ${answer.term ?? "unknown"}.`);
  if (to === undefined || answer.leader === to) return;
  throw new ProblemError("conflict", {
    detail: `${to} did not become leader in time; the leader is ${answer.leader}`,
    hint: "Check the members with: lattice admin raft status, then try again.",
  });
}

function showMembers(print: Printer, members: readonly Member[]): void {
  const withEtcd = members.some(({ etcd }) => etcd !== undefined);
  const withCertificate = members.some(({ certificate }) => certificate !== undefined);
  print.table([...SERVER, ...(withCertificate ? CERTIFICATE : []), ...(withEtcd ? ETCD : [])], members);
}

/** A learner is caught up by its cluster and then counted. */
const memberName = ({ name = "", learner }: NonNullable<Member["etcd"]>): string =>
  name === "" ? "(not started)" : `${name}${learner === true ? " (catching up)" : ""}`;

/** The start of the hash, with the entry at which it was taken. */
function stateHash({ state_hash = "", state_index, diverged }: Member): string {
  const hash = state_hash === "" ? ABSENT : `${state_hash.slice(0, 12)} at ${state_index}`;
  return diverged === true ? `${hash} (diverged)` : hash;
}

const megabytes = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const yesNo = (value: boolean | undefined): string => (value === true ? "yes" : "no");

const SERVER: readonly Column<Member>[] = [
  { header: "MEMBER", value: ({ id }) => id },
  { header: "ADDRESS", value: ({ address }) => address || ABSENT },
  { header: "LEADER", value: ({ leader }) => yesNo(leader) },
  { header: "HEALTHY", value: ({ healthy }) => yesNo(healthy) },
  { header: "APPLIED", value: ({ applied_index }) => applied_index ?? ABSENT, align: "right" },
  { header: "LAG", value: ({ lag }) => (lag === undefined ? ABSENT : String(lag)), align: "right" },
  { header: "STATE HASH", value: stateHash },
  { header: "VERSION", value: ({ server_version }) => server_version || ABSENT },
];

const CERTIFICATE: readonly Column<Member>[] = [
  { header: "CERTIFICATE", value: ({ certificate }) => certificate?.serial ?? ABSENT },
  {
    header: "UNTIL",
    value: ({ certificate }) => (certificate?.end === undefined ? ABSENT : localTime(certificate.end)),
  },
];

const ETCD: readonly Column<Member>[] = [
  { header: "ETCD", value: ({ etcd }) => (etcd === undefined ? ABSENT : memberName(etcd)) },
  { header: "ETCD ID", value: ({ etcd }) => etcd?.id ?? ABSENT },
  { header: "ETCD LEADER", value: ({ etcd }) => (etcd === undefined ? ABSENT : yesNo(etcd.leader)) },
  { header: "ETCD HEALTHY", value: ({ etcd }) => (etcd === undefined ? ABSENT : yesNo(etcd.healthy)) },
  {
    header: "DB SIZE",
    value: ({ etcd }) => (etcd?.database_bytes ? megabytes(etcd.database_bytes) : ABSENT),
    align: "right",
  },
  { header: "RAFT TERM", value: ({ etcd }) => etcd?.raft_term || ABSENT, align: "right" },
  { header: "RAFT INDEX", value: ({ etcd }) => etcd?.raft_index || ABSENT, align: "right" },
];
