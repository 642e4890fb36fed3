// The JSON-lines trace: one object per line.
//   {"ts": 0, "type": "machine", "nodes": 64}
//   {"ts": 1, "type": "submit", "alloc": {"id": "7", "nodes": 4, "walltime": "2h", "tenant": "physics", "priority": 5}}
//   {"ts": 5400, "type": "complete", "alloc_id": "7", "duration": "1.5h"}
// `ts` is in seconds or a date. Submissions without an id are numbered from 1; a submission without a completion runs for
// its whole walltime. The user defaults to the tenant, and the tenant to the user. Lines of the types node, vcluster and
// tenant describe the cluster; the last line about each counts. A restarted capture repeats pending submissions: the first
// line about each counts. Lines of other types are ignored, since captures contain more.

import type { InventoryNode } from "../inventory/inventory.ts";
import type { Profile } from "../weights/profile.ts";
import { parseNode, parseVCluster } from "./machine-lines.ts";
import { type Bad, isObject, type TraceObject } from "./record.ts";
import { parseRequest } from "./request.ts";
import { createColumns, makeRoom, type Rows } from "./rows.ts";
import { parseTenant, type TracedTenant } from "./tenant-line.ts";
import { parseDuration, parseTime } from "./time-text.ts";
import { DEFAULT_PRIORITY } from "./trace.ts";
import { TraceError } from "./trace-error.ts";

export function parseJsonLines(bytes: Uint8Array, limit: number): Rows {
  const found = createFound();
  let number = 0;
  for (const line of Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8").split("\n")) {
    number += 1;
    if (line.trim() === "") continue;
    const record = parseRecord(line, number);
    const bad = (detail: string): TraceError => new TraceError(number, detail);
    switch (record.type) {
      case "machine":
        found.nodes = countOf(record.nodes, "nodes", bad);
        break;
      case "node":
        put(found.machine, parseNode(objectOf(record.node, "node", bad), bad), ({ id }) => id);
        break;
      case "vcluster":
        put(
          found.vclusters,
          parseVCluster(objectOf(record.vcluster, "vcluster", bad), bad),
          ({ vcluster }) => vcluster,
        );
        break;
      case "tenant": {
        const tenant = parseTenant(objectOf(record.tenant, "tenant", bad), bad);
        numberOf(found.tenants, tenant.name);
        put(found.limits, tenant, ({ name }) => name);
        break;
      }
      case "submit":
        if (found.ids.length < limit) addSubmission(found, record, number, bad);
        break;
      case "complete":
        complete(found, record, bad);
        break;
    }
  }
  const { columns, ids, users, tenants, limits, requests } = found;
  const [machine, vclusters] = [[...found.machine.values()], [...found.vclusters.values()]];
  return {
    count: ids.length,
    ids,
    users: [...users.keys()],
    tenants: [...tenants.keys()],
    limits: [...limits.values()],
    requests: requests.some((request) => request !== null) ? requests : null,
    columns,
    nodes: found.nodes ?? (machine.length > 0 ? machine.length : null),
    machine,
    vclusters,
  };
}

interface Found {
  readonly columns: ReturnType<typeof createColumns>;
  readonly ids: string[];
  readonly rowOf: Map<string, number>;
  readonly users: Map<string, number>;
  readonly tenants: Map<string, number>;
  readonly limits: Map<string, TracedTenant>;
  readonly requests: ReturnType<typeof parseRequest>[];
  readonly machine: Map<string, InventoryNode>;
  readonly vclusters: Map<string, Profile>;
  nodes: number | null;
}

const createFound = (): Found => ({
  columns: createColumns(),
  ids: [],
  rowOf: new Map(),
  users: new Map(),
  tenants: new Map(),
  limits: new Map(),
  requests: [],
  machine: new Map(),
  vclusters: new Map(),
  nodes: null,
});

const put = <T>(into: Map<string, T>, value: T, nameOf: (value: T) => string): void =>
  void into.set(nameOf(value), value);

const numberOf = (names: Map<string, number>, name: string): number =>
  names.get(name) ?? names.set(name, names.size).size - 1;

function parseRecord(line: string, number: number): TraceObject {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new TraceError(number, "is not valid JSON");
  }
  if (!isObject(value)) throw new TraceError(number, "is not a JSON object");
  if (typeof value.type !== "string") throw new TraceError(number, 'the field "type" is missing');
  return value;
}

function addSubmission(found: Found, record: TraceObject, line: number, bad: Bad): void {
  const { columns, ids, rowOf, requests } = found;
  const alloc = objectOf(record.alloc, "alloc", bad);
  const submit = parseTime(record.ts);
  if (submit === null) throw bad('the field "ts" must be seconds or a date');
  if (submit < 0) throw bad(`the field "ts" is negative: ${submit}`);
  const walltime = parseDuration(alloc.walltime);
  if (walltime === null || walltime < 0) throw bad('the field "alloc.walltime" must be a duration such as "72h"');
  const id = alloc.id === undefined ? String(ids.length + 1) : String(alloc.id);
  const known = rowOf.get(id);
  if (known !== undefined && columns.submit[known] === submit) return;
  if (known !== undefined) throw bad(`allocation ${JSON.stringify(id)} is submitted twice`);
  const priority = alloc.priority === undefined ? DEFAULT_PRIORITY : alloc.priority;
  if (typeof priority !== "number" || !Number.isInteger(priority) || priority < 0 || priority > 10) {
    throw bad('the field "alloc.priority" must be a whole number from 0 to 10');
  }
  const size = sizeOf(alloc.nodes, bad);
  const request = parseRequest(alloc, bad);
  const row = ids.length;
  makeRoom(columns, row);
  columns.user[row] = numberOf(found.users, String(alloc.user ?? alloc.tenant ?? "unknown"));
  columns.tenant[row] = numberOf(found.tenants, String(alloc.tenant ?? alloc.user ?? "unknown"));
  columns.submit[row] = submit;
  columns.run[row] = walltime;
  columns.request[row] = walltime;
  columns.size[row] = size;
  columns.priority[row] = priority;
  columns.line[row] = line;
  ids.push(id);
  rowOf.set(id, row);
  requests.push(request);
}

function complete({ columns, rowOf }: Found, record: TraceObject, bad: Bad): void {
  if (record.alloc_id === undefined) throw bad('the field "alloc_id" is missing');
  const run = parseDuration(record.duration);
  if (run === null || run < 0) throw bad('the field "duration" must be a duration such as "68h"');
  // A capture may contain the end of an allocation that was submitted before it started.
  const row = rowOf.get(String(record.alloc_id));
  if (row !== undefined) columns.run[row] = Math.min(run, columns.request[row] as number);
}

function objectOf(value: unknown, field: string, bad: Bad): TraceObject {
  if (isObject(value)) return value;
  throw bad(`the field "${field}" is missing`);
}

/** The minimum of a range. */
function sizeOf(nodes: unknown, bad: Bad): number {
  if (!isObject(nodes)) return countOf(nodes, "alloc.nodes", bad);
  const least = countOf(nodes.min, "alloc.nodes.min", bad);
  if (countOf(nodes.max, "alloc.nodes.max", bad) >= least) return least;
  throw bad('the field "alloc.nodes.max" is less than "alloc.nodes.min"');
}

function countOf(value: unknown, field: string, bad: Bad): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw bad(`the field "${field}" must be a whole number`);
}
