// `lattice node`: administration of nodes. Disabling a node ends its allocations and an urgent drain requeues them, so
// both ask for confirmation.

import type { GpuCondition, LatticeClient, NodeCondition, NodeResponse, ReportHealthRequest } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { type Command, Option } from "commander";
import { type Context, createContext } from "../context.ts";
import { globalFlags } from "../global-options.ts";
import { confirmOnTerminal, requireConfirmation } from "../output/confirm.ts";
import { forEachId } from "../output/for-each-id.ts";
import type { Printer } from "../output/printer.ts";
import type { Column } from "../output/table.ts";
import { ABSENT, clean, pad } from "../output/text.ts";
import { localTime } from "../output/time.ts";
import { expandHosts } from "../parse/hosts.ts";
import { NODE_STATES, parseStates } from "../parse/states.ts";
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
  const disable = command.command("disable").description("Take nodes out of service at once and end their allocations");
  disable.option("--reason <text>", "reason, shown with the node").option("--yes", "do not ask for confirmation");
  defineAction(disable, (client, id, options) => client.nodes.disable(id, options), confirmDisable);
  defineAction(command.command("enable").description("Return disabled nodes to service"), (client, id, { requestId }) =>
    client.nodes.enable(id, { requestId }),
  );
  defineAssign(command);
  defineHealth(command);
}

const STATUSES = ["ok", "warning", "critical"] as const;

/** For programs that poll management controllers, and for operators. */
function defineHealth(command: Command): void {
  const report = command.command("report-health").description("Report the health of a node from outside");
  report
    .argument("<id>", "node")
    .addOption(
      new Option("--status <status>", "health; critical takes the node down at once")
        .choices(STATUSES)
        .makeOptionMandatory(),
    )
    .option("--component <name>", "component: psu, memory, gpu3")
    .option("--message <text>", "finding")
    .action(async (id: string, flags: ReportHealthRequest) => {
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
  const assign = command.command("assign").description("Assign nodes to a home vCluster (--vcluster NAME)");
  assign.option("--to-all", "the nodes serve all vClusters");
  defineAction(
    assign,
    (client, id, { requestId }) => client.nodes.assign(id, globalFlags(assign).vcluster ?? "", { requestId }),
    async (_ids, flags) => {
      if ((flags.toAll === true) !== (globalFlags(assign).vcluster === undefined)) throw homeRequired();
    },
  );
}

const homeRequired = (): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: "the home of the nodes is missing or ambiguous: give --vcluster or --to-all",
    hint: "For example: lattice node assign n[0-199] --vcluster=hpc-batch",
  });

/** Also available as `lattice admin drain|undrain`. */
export function defineDrain(command: Command): void {
  const drain = command.command("drain").description("Give nodes no new allocations; running ones finish");
  drain.option("--urgent", "checkpoint and requeue running allocations where possible");
  drain
    .option("--reason <text>", "reason, shown with the node")
    .option("--yes", "with --urgent: do not ask for confirmation");
  defineAction(drain, (client, id, options) => client.nodes.drain(id, options), confirmUrgent);
  defineAction(
    command.command("undrain").description("Give drained nodes new allocations again"),
    (client, id, { requestId }) => client.nodes.undrain(id, { requestId }),
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
    .description("Show the condition that a node's agent found: versions, devices, faults");
  condition
    .argument("<id...>", "nodes")
    .option("--fresh", "examine the node now instead of showing the last result")
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

/** More names would hide the question. */
const NAMED_IN_QUESTION = 10;

function nodesText(ids: readonly string[]): string {
  const names = ids.length > NAMED_IN_QUESTION ? `${ids.slice(0, NAMED_IN_QUESTION).join(", ")} ...` : ids.join(", ");
  return ids.length === 1 ? `node ${ids[0]}` : `${ids.length} nodes (${names})`;
}

async function confirmUrgent(ids: readonly string[], flags: ActionFlags): Promise<void> {
  if (flags.urgent !== true) return;
  const what = nodesText(ids);
  await confirmOnTerminal(
    flags.yes,
    `Drain ${what} at once? Running allocations are stopped and requeued.`,
    `${what} not drained`,
  );
}

async function confirmDisable(ids: readonly string[], flags: ActionFlags): Promise<void> {
  const what = nodesText(ids);
  await requireConfirmation(flags.yes, `Disable ${what}? Running allocations are ended.`, `${what} not disabled`);
}

async function showConditions(
  { client, print, settings }: Context,
  ids: readonly string[],
  fresh: boolean,
): Promise<void> {
  const { done: found, finish } = await forEachId(ids, (id) => client.nodes.condition(id, { fresh }));
  const [first] = found;
  if (print.structured) await print.document(ids.length === 1 && first !== undefined ? first : { nodes: found });
  else if (settings.quiet) print.lines(found.map(({ node }) => node));
  else for (const [n, condition] of found.entries()) show(print, condition, n > 0);
  finish();
}

function show(print: Printer, condition: NodeCondition, apart: boolean): void {
  if (apart) print.line("");
  const { components = {}, faults = [], gpus = [], nics = [], disks = [] } = condition;
  const lines: (readonly [string, string])[] = [
    ["Node", condition.node],
    ["Examined", localTime(condition.examined_at)],
    ["Faults", faults.length === 0 ? "none" : faults.join("; ")],
    ["Conformance", condition.conformance ?? ABSENT],
    ...Object.entries(components).map(([name, value]) => [`  ${name}`, value] as const),
    ...nics.map(({ name, firmware = "" }) => ["Adapter", [name, firmware].filter(Boolean).join(", ")] as const),
    ...disks.map(
      ({ name, model = "", size_gb = 0 }) => ["Drive", `${name}, ${model}, ${Math.round(size_gb)} GB`] as const,
    ),
  ];
  const width = Math.max(...lines.map(([key]) => key.length)) + 2;
  for (const [key, value] of lines) print.line(pad(`${key}:`, width) + clean(value));
  if (gpus.length > 0) print.table(GPU_COLUMNS, gpus);
}

const GPU_COLUMNS: readonly Column<GpuCondition>[] = [
  { header: "GPU", value: ({ index = 0 }) => String(index), align: "right" },
  { header: "MODEL", value: ({ model = "", partitioned }) => (partitioned === true ? `${model} slice` : model) },
  { header: "MEMORY", value: ({ memory_gb = 0 }) => `${Math.round(memory_gb)} GB`, align: "right" },
  { header: "TEMP", value: ({ temperature_c }) => (temperature_c === undefined ? ABSENT : `${temperature_c} C`) },
  { header: "NIC", value: ({ nic }) => nic || ABSENT },
  { header: "BUS", value: ({ pci }) => pci || ABSENT },
  { header: "UUID", value: ({ uuid }) => uuid || ABSENT, flexible: true },
  { header: "FAULT", value: ({ fault }) => fault || ABSENT, flexible: true },
];
