// Completes a workflow document: members without a working directory get the current one, and members without a tenant
// or vCluster get those of the settings.

import { resolve } from "node:path";

interface DagSettings {
  readonly tenant?: string | undefined;
  readonly vcluster?: string | undefined;
  readonly name?: string | undefined;
  readonly cwd: string;
}

type Document = Readonly<Record<string, unknown>>;

export function dagBody(document: Document, { tenant, vcluster, name, cwd }: DagSettings): Document {
  const { dag, ...outer } = document;
  const body: Document = isObject(dag) ? { ...outer, ...dag } : document;
  const { allocations } = body;
  return {
    ...body,
    ...(tenant === undefined ? {} : { tenant }),
    ...(vcluster === undefined ? {} : { vcluster }),
    ...(name === undefined ? {} : { name }),
    // The server rejects anything but a list.
    ...(Array.isArray(allocations) ? { allocations: allocations.map((member) => placed(member, cwd)) } : {}),
  };
}

function placed(member: unknown, cwd: string): unknown {
  if (!isObject(member)) return member;
  if (typeof member.workdir === "string") return { ...member, workdir: resolve(cwd, member.workdir) };
  const inside = isObject(member.environment) && member.environment.workdir !== undefined;
  const elsewhere = isObject(member.template) || isObject(member.allocation);
  return inside || elsewhere ? member : { ...member, workdir: cwd };
}

const isObject = (value: unknown): value is Document =>
  typeof value === "object" && value !== null && !Array.isArray(value);
