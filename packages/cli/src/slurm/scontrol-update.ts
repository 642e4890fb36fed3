// `scontrol update`: some things about a job, and whether a node takes work. What Slurm has and Lattice does not is refused
// by name, before anything is changed.

import { randomUUID } from "node:crypto";
import type { AllocationUpdate } from "@lattice/sdk";
import { DEFAULT_QOS_CLASSES, expandHostlist, parseSlurmTime } from "@lattice/wire";
import type { Desk } from "./desk.ts";
import { notOffered, Refusal, refuse } from "./refusal.ts";

const OFFERED = "offered are TimeLimit, JobName, QOS, Comment and Priority=0 of a job, and State of a node";

interface Changes {
  readonly id: string | undefined;
  readonly update: AllocationUpdate;
  /** Seconds more, or fewer, than it has. */
  readonly longer: number;
  /** Priority=0 holds a job, as in Slurm. */
  readonly hold: boolean;
}

/** `JobId=44 TimeLimit=2:00:00 JobName=x`, the id also as a word of its own after `job`. */
export async function update(desk: Desk, words: readonly string[]): Promise<number> {
  const nodes = words.find((word) => /^node(name)?=/i.test(word));
  if (nodes !== undefined) return updateNodes(desk, nodes, words);
  const start: Changes = { id: undefined, update: {}, longer: 0, hold: false };
  const { id, update: changes, longer, hold } = words.reduce((all, word) => changedBy(desk, all, word), start);
  if (id === undefined) throw notOffered("scontrol", "updating this", OFFERED);
  const limit = longer === 0 ? {} : { walltime_seconds: await limitAfter(desk, id, longer) };
  const all = { ...changes, ...limit };
  if (Object.keys(all).length > 0) await desk.client.update(id, all);
  if (hold) await desk.client.hold(id);
  return 0;
}

async function limitAfter({ client }: Desk, id: string, longer: number): Promise<number> {
  const seconds = ((await client.get(id)).spec?.lifecycle?.walltime_seconds ?? 0) + longer;
  if (seconds <= 0) throw refuse("scontrol", "Invalid TimeLimit value: nothing would be left");
  return seconds;
}

/** Whether nodes take work, by the states that Slurm has for it. */
async function updateNodes({ client }: Desk, named: string, words: readonly string[]): Promise<number> {
  const told = new Map(
    words.map((word) => word.split(/=(.*)/s)).map(([key = "", value = ""]) => [key.toLowerCase(), value]),
  );
  const other = [...told.keys()].find((key) => !/^(node|nodename|state|reason)$/.test(key));
  if (other !== undefined) throw notOffered("scontrol", `updating ${other} of a node`, OFFERED);
  const names = expandHostlist(named.replace(/^[^=]*=/, ""));
  if (names === null) throw refuse("scontrol", `Invalid node list: ${named}`);
  const state = (told.get("state") ?? "").toUpperCase();
  const reason = told.get("reason");
  if (/^(DRAIN|DOWN|FAIL)$/.test(state) && (reason ?? "") === "")
    throw new Refusal([`You must specify a reason when ${state}ING a node. Request denied`]);
  for (const name of names) {
    const options = { requestId: randomUUID(), reason };
    if (state === "DRAIN") await client.nodes.drain(name, options);
    else if (state === "DOWN" || state === "FAIL") await client.nodes.disable(name, options);
    else if (/^(RESUME|IDLE|UNDRAIN)$/.test(state)) await takeUp(client, name);
    else throw notOffered("scontrol", `the state "${told.get("state") ?? ""}" of a node`, "DRAIN, RESUME, DOWN are");
  }
  return 0;
}

/** A node that drains takes work again; one that was put down is let in again. */
async function takeUp(client: Desk["client"], name: string): Promise<void> {
  const { state } = await client.nodes.get(name);
  const requestId = randomUUID();
  await (/^drain/.test(state) ? client.nodes.undrain(name, { requestId }) : client.nodes.enable(name, { requestId }));
}

function changedBy({ compat }: Desk, all: Changes, word: string): Changes {
  const [key = "", value = ""] = word.split(/=(.*)/s);
  const also = (more: AllocationUpdate): Changes => ({ ...all, update: { ...all.update, ...more } });
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
      throw notOffered("scontrol", "setting a priority", "use QOS, or Priority=0 to hold a job");
    default:
      if (value === "" && /^\d+(_\d+)?$/.test(key)) return { ...all, id: key };
      throw notOffered("scontrol", `updating ${key}`, OFFERED);
  }
}

function classOf({ mapping }: Desk["compat"], name: string): number {
  const found = Object.entries(mapping.qos ?? DEFAULT_QOS_CLASSES).find(([one]) => one === name.toLowerCase());
  if (found === undefined) throw refuse("scontrol", "Invalid qos specification");
  return found[1];
}

function limitOf(text: string): number {
  try {
    const seconds = parseSlurmTime(text);
    if (seconds !== null) return seconds;
  } catch {
    // Told below, as every other text that is no limit.
  }
  throw refuse("scontrol", `Invalid TimeLimit value: ${text}`);
}
