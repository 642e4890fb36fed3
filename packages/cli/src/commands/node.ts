// `lattice node`: what an administrator does to nodes. Disabling ends what runs there, and an urgent drain stops it, so
// both ask first.

import type { HealthReport, LatticeClient, NodeResponse } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { type Command, Option } from "commander";
import { type Context, createContext } from "../context.ts";
import { globalFlags } from "../global-options.ts";
import { askFirst, askOnTerminal } from "../output/ask-first.ts";
import { expandHosts } from "../parse/hosts.ts";
import { NODE_STATES, parseStates } from "../parse/states.ts";
import { forEachId } from "./for-each-id.ts";
import { showConditions } from "./nodes/condition.ts";
import { stateText } from "./nodes/table.ts";
import { showNamedNodes, showNodes } from "./nodes.ts";

type Act = (
  client: LatticeClient,
  id: string,
  options: { reason?: string; urgent?: boolean; requestId: string },
) => Promise<NodeResponse>;

export function define(command: Command): void {
  defineList(command);
  defineDrain(command);
  const disable = command.command("disable").description("Take out of service at once; what runs there is ended");
  disable.option("--reason <text>", "why, shown with the node").option("--yes", "do not ask");
  defineAction(disable, (client, id, options) => client.nodes.disable(id, options), confirmDisable);
  defineAction(command.command("enable").description("Bring back a disabled node"), (client, id, { requestId }) =>
    client.nodes.enable(id, { requestId }),
  );
  defineAssign(command);
  defineHealth(command);
}

const STATUSES = ["ok", "warning", "critical"] as const;

/** For pollers of management controllers, and for whoever stands in front of the machine. */
function defineHealth(command: Command): void {
  const report = command.command("report-health").description("Tell what was found out about a node from outside");
  report
    .argument("<id>", "node")
    .addOption(
      new Option("--status <status>", "critical takes it down at once").choices(STATUSES).makeOptionMandatory(),
    )
    .option("--component <name>", "what it is about: psu, memory, gpu3")
    .option("--message <text>", "what was found")
    .action(async (id: string, flags: HealthReport) => {
      const { client, print } = await createContext(report);
      const { status, component, message } = flags;
      const about = {
        ...(component === undefined ? {} : { component }),
        ...(message === undefined ? {} : { message }),
      };
      const { node } = await client.nodes.reportHealth(id, { status, ...about });
      if (print.structured) return print.document(node);
      print.done(node.id, `${node.id}: ${stateText(node)}`);
    });
}

function defineAssign(command: Command): void {
  const assign = command.command("assign").description("Say at which vCluster nodes are at home (--vcluster NAME)");
  assign.option("--to-all", "they serve all vClusters");
  defineAction(
    assign,
    (client, id, { requestId }) => client.nodes.assign(id, globalFlags(assign).vcluster ?? "", { requestId }),
    async (_ids, flags) => {
      if ((flags.toAll === true) !== (globalFlags(assign).vcluster === undefined)) throw noHome();
    },
  );
}

const noHome = (): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: "name one vCluster, or say --to-all",
    hint: "For example: lattice node assign n[0-199] --vcluster=hpc-batch",
  });

/** Also offered as `lattice admin drain|undrain`. */
export function defineDrain(command: Command): void {
  const drain = command.command("drain").description("Take no new work; what runs may end");
  drain.option("--urgent", "have what runs there checkpointed and queued again, where it can be");
  drain.option("--reason <text>", "why, shown with the node").option("--yes", "with --urgent: do not ask");
  defineAction(drain, (client, id, options) => client.nodes.drain(id, options), confirmUrgent);
  defineAction(command.command("undrain").description("Take work again"), (client, id, { requestId }) =>
    client.nodes.undrain(id, { requestId }),
  );
}

function defineList(command: Command): void {
  const list = command.command("list").description("Show nodes, as `lattice nodes` does");
  list
    .option("--state <states>", "only these states", (text) => parseStates(text, NODE_STATES))
    .action(async (flags) => showNodes(await createContext(list), flags));
  const status = command.command("status").description("Show nodes in detail").argument("<id...>", "nodes");
  status.action(async (words: readonly string[]) => showNamedNodes(await createContext(status), expandHosts(words)));
  const condition = command
    .command("condition")
    .description("Show what a node's agent finds: versions, devices, faults");
  condition
    .argument("<id...>", "nodes")
    .option("--fresh", "look again, instead of what was found last")
    .action(async (ids: readonly string[], { fresh }: { fresh?: boolean }) =>
      showConditions(await createContext(condition), expandHosts(ids), fresh === true),
    );
}

interface ActionFlags {
  readonly reason?: string;
  readonly yes?: boolean;
  readonly urgent?: boolean;
  readonly toAll?: boolean;
}

function defineAction(
  command: Command,
  act: Act,
  before: (ids: readonly string[], flags: ActionFlags) => Promise<void> = async () => {},
): void {
  command
    .argument("<id...>", "nodes, such as n1 or n[0-199]")
    .action(async (words: readonly string[], flags: ActionFlags) => {
      const ids = expandHosts(words);
      const context = await createContext(command);
      await before(ids, flags);
      await actOnAll(context, ids, act, flags);
    });
}

async function actOnAll({ client, print }: Context, ids: readonly string[], act: Act, flags: ActionFlags) {
  const { randomUUID } = await import("node:crypto");
  const { done: changed, finish } = await forEachId(ids, async (id) => {
    const options = {
      requestId: randomUUID(),
      ...(flags.reason === undefined ? {} : { reason: flags.reason }),
      ...(flags.urgent === true ? { urgent: true } : {}),
    };
    const { node } = await act(client, id, options);
    if (!print.structured) print.done(node.id, `${node.id}: ${stateText(node)}`);
    return node;
  });
  if (print.structured) await print.document({ nodes: changed });
  finish();
}

/** More names than this in a question hide it. */
const NAMED_IN_QUESTION = 10;

function nodesText(ids: readonly string[]): string {
  const names = ids.length > NAMED_IN_QUESTION ? `${ids.slice(0, NAMED_IN_QUESTION).join(", ")} ...` : ids.join(", ");
  return ids.length === 1 ? `node ${ids[0]}` : `${ids.length} nodes (${names})`;
}

async function confirmUrgent(ids: readonly string[], flags: ActionFlags): Promise<void> {
  if (flags.urgent !== true) return;
  const what = nodesText(ids);
  await askOnTerminal(
    flags.yes,
    `Drain ${what} at once? What runs there is stopped and queued again.`,
    `${what} not drained`,
  );
}

async function confirmDisable(ids: readonly string[], flags: ActionFlags): Promise<void> {
  const what = nodesText(ids);
  await askFirst(flags.yes, `Disable ${what}? What runs there is ended.`, `${what} not disabled`);
}
