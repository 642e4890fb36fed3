// Finds the ids of work that a user names: an id, "last" for the newest, or a name. An id is used as it is and costs no
// request. Of several with one name, commands that read take the newest that has not ended, then the newest; commands
// that change something refuse where several have not ended.

import type { Allocation } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Context } from "../context.ts";
import { hasEnded } from "../wait/until-ended.ts";

type Finder = Pick<Context, "client" | "settings">;

/** "12", "12_3", "12_[3-9,20]" and "dag-12". */
const ID = /^(\d+(_\S+)?|dag-\d+)$/;
const LAST = "last";
/** Enough for the live ones of one name. */
const PAGE = 100;

export const isDagId = (id: string): boolean => id.startsWith("dag-");

/** For commands that read. */
export const workToRead = (context: Finder, word: string): Promise<string> => findWork(context, word, false);

/** For commands that change the work. */
export const workToChange = (context: Finder, word: string): Promise<string> => findWork(context, word, true);

export async function eachToRead(context: Finder, words: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const word of words) ids.push(await workToRead(context, word));
  return ids;
}

async function findWork({ client, settings }: Finder, word: string, changes: boolean): Promise<string> {
  if (ID.test(word)) return word;
  const { user } = settings;
  if (word === LAST) {
    const { allocations = [] } = await client.list({ user, page_size: 1 });
    return allocations[0]?.id ?? fail(`${user} has no allocations`, "Submit one with: lattice submit");
  }
  const { allocations = [] } = await client.list({ user, name: word, page_size: PAGE });
  const live = allocations.filter((allocation) => !hasEnded(allocation));
  if (changes && live.length > 1) throw ambiguous(word, live);
  const found = live[0] ?? allocations[0];
  if (found !== undefined) return found.id;
  const ofService = await allocationOfService({ client, settings }, word);
  return ofService ?? fail(`${user} has no allocation named ${quoted(word)}`, "List allocations with: lattice status");
}

/** Any user of the tenant may name a service. */
async function allocationOfService({ client, settings }: Finder, name: string): Promise<string | null> {
  const { tenant } = settings;
  try {
    const { endpoints = [] } = await client.services.get(name, tenant === undefined ? {} : { tenant });
    return endpoints[0]?.allocation_id ?? null;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status === 404) return null;
    throw error;
  }
}

/** Returns the id of a DAG from "dag-12", "12", "last" or its name; of several, the newest that runs. */
export async function findDag({ client, settings }: Finder, word: string): Promise<string> {
  if (ID.test(word) && isDagId(word)) return word;
  if (/^\d+$/.test(word)) return `dag-${word}`;
  const { user } = settings;
  const { dags = [] } = await client.dags.list({ user, page_size: word === LAST ? 1 : PAGE });
  const named = word === LAST ? dags : dags.filter(({ name }) => name === word);
  const found = word === LAST ? named[0] : (named.find(isOpen) ?? named[0]);
  if (found !== undefined) return found.id;
  throw new ProblemError("unknown_dag", {
    detail: `${user} has no ${word === LAST ? "DAGs" : `DAG named ${quoted(word)}`}`,
  });
}

const isOpen = ({ state }: { readonly state?: string }): boolean => state === "running";

const quoted = (word: string): string => JSON.stringify(word);

function ambiguous(word: string, live: readonly Allocation[]): ProblemError {
  const ids = live.map(({ id }) => id);
  return new ProblemError("invalid_argument", {
    detail: `${ids.length} allocations are named ${quoted(word)}: ${ids.join(", ")}`,
    hint: "Name the allocation by its id.",
  });
}

function fail(detail: string, hint: string): never {
  throw new ProblemError("unknown_allocation", { detail, hint });
}
