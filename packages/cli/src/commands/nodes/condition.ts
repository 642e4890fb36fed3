// Shows the condition of nodes as found by their agents: faults, the components of the fingerprint, and devices.

import type { GpuCondition, NodeCondition } from "@lattice/sdk";
import type { Context } from "../../context.ts";
import { forEachId } from "../../output/for-each-id.ts";
import type { Printer } from "../../output/printer.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT, clean, pad } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";

export async function showConditions(
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
