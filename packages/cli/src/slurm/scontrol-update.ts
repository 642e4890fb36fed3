// `scontrol update`: changes some fields of a job, and the state of a node. An unsupported field is an error before
// anything is changed.

import { randomUUID } from "node:crypto";
import type { UpdateAllocationRequest } from "@lattice/sdk";
import { DEFAULT_QOS_CLASSES, expandHostlist, parseSlurmTime } from "@lattice/wire";
import type { SlurmContext } from "./context.ts";
import { SlurmError, slurmError, unsupported } from "./slurm-error.ts";

const SUPPORTED = "supported are TimeLimit, JobName, QOS, Comment and Priority=0 of a job, and State of a node";

interface Changes {
  readonly id: string | undefined;
  readonly update: UpdateAllocationRequest;
  /** Change of the time limit in seconds. */
  readonly longer: number;
  /** Priority=0 holds a job, as in Slurm. */
  readonly hold: boolean;
}

/** Takes `JobId=44 TimeLimit=2:00:00 JobName=x`; the id may also be a separate word after `job`. */
export async function update(context: SlurmContext, words: readonly string[]): Promise<number> {
  const nodes = words.find((word) => /^node(name)?=/i.test(word));
  if (nodes !== undefined) return updateNodes(context, nodes, words);
  const start: Changes = { id: undefined, update: {}, longer: 0, hold: false };
  const { id, update: changes, longer, hold } = words.reduce((all, word) => changedBy(context, all, word), start);
  if (id === undefined) throw unsupported("scontrol", "updating this", SUPPORTED);
  const limit = longer === 0 ? {} : { walltime_seconds: await limitAfter(context, id, longer) };
  const all = { ...changes, ...limit };
  if (Object.keys(all).length > 0) await context.client.update(id, all);
  if (hold) await context.client.hold(id);
  return 0;
}

async function limitAfter({ client }: SlurmContext, id: string, longer: number): Promise<number> {
  const seconds = ((await client.get(id)).spec?.lifecycle?.walltime_seconds ?? 0) + longer;
  if (seconds <= 0) throw slurmError("scontrol", "Invalid TimeLimit value: the limit would be zero or negative");
  return seconds;
}

/** Drains, disables or resumes nodes, by Slurm's state names. */
async function updateNodes({ client }: SlurmContext, named: string, words: readonly string[]): Promise<number> {
  const fields = new Map(
    words.map((word) => word.split(/=(.*)/s)).map(([key = "", value = ""]) => [key.toLowerCase(), value]),
  );
  const other = [...fields.keys()].find((key) => !/^(node|nodename|state|reason)$/.test(key));
  if (other !== undefined) throw unsupported("scontrol", `updating ${other} of a node`, SUPPORTED);
  const names = expandHostlist(named.replace(/^[^=]*=/, ""));
  if (names === null) throw slurmError("scontrol", `Invalid node list: ${named}`);
  const state = (fields.get("state") ?? "").toUpperCase();
  const reason = fields.get("reason");
  if (/^(DRAIN|DOWN|FAIL)$/.test(state) && (reason ?? "") === "")
    throw new SlurmError([`You must specify a reason when ${state}ING a node. Request denied`]);
  for (const name of names) {
    const options = { requestId: randomUUID(), reason };
    if (state === "DRAIN") await client.nodes.drain(name, options);
    else if (state === "DOWN" || state === "FAIL") await client.nodes.disable(name, options);
    else if (/^(RESUME|IDLE|UNDRAIN)$/.test(state)) await resumeNode(client, name);
    else
      throw unsupported("scontrol", `the state "${fields.get("state") ?? ""}" of a node`, "use DRAIN, RESUME or DOWN");
  }
  return 0;
}

/** Undrains a drained node and enables a disabled one. */
async function resumeNode(client: SlurmContext["client"], name: string): Promise<void> {
  const { state } = await client.nodes.get(name);
  const requestId = randomUUID();
  await (/^drain/.test(state) ? client.nodes.undrain(name, { requestId }) : client.nodes.enable(name, { requestId }));
}

function changedBy({ compat }: SlurmContext, all: Changes, word: string): Changes {
  const [key = "", value = ""] = word.split(/=(.*)/s);
  const also = (more: UpdateAllocationRequest): Changes => ({ ...all, update: { ...all.update, ...more } });
  switch (key.toLowerCase()) {
    case "job":
    case "jobid":
      return value === "" ? all : { ...all, id: value };
    case "timelimit":
      if (!/^[+-]/.test(value)) return also({ walltime_seconds: limitOf(value) });
      return { ...all, longer: (value.startsWith("-") ? -1 : 1) * limitOf(value.slice(1)) };
    case "jobname":
    case "name":
      return also({ name: value });
    case "qos":
      return also({ preemption_class: classOf(compat, value) });
    case "comment":
      return also({ set_tags: { comment: value } });
    case "priority":
      if (value === "0") return { ...all, hold: true };
      throw unsupported("scontrol", "setting a priority", "use QOS, or Priority=0 to hold a job");
    default:
      if (value === "" && /^\d+(_\d+)?$/.test(key)) return { ...all, id: key };
      throw unsupported("scontrol", `updating ${key}`, SUPPORTED);
  }
}

function classOf({ mapping }: SlurmContext["compat"], name: string): number {
  const found = Object.entries(mapping.qos ?? DEFAULT_QOS_CLASSES).find(([one]) => one === name.toLowerCase());
  if (found === undefined) throw slurmError("scontrol", "Invalid qos specification");
  return found[1];
}

function limitOf(text: string): number {
  try {
    const seconds = parseSlurmTime(text);
    if (seconds !== null) return seconds;
  } catch {
    // Reported below, like every other invalid limit.
  }
  throw slurmError("scontrol", `Invalid TimeLimit value: ${text}`);
}
