// Our own trace: one JSON object per line.
//   {"ts": 0, "type": "machine", "nodes": 64}
//   {"ts": 1, "type": "submit", "alloc": {"id": "7", "nodes": 4, "walltime": "2h", "tenant": "physics", "priority": 5}}
//   {"ts": 5400, "type": "complete", "alloc_id": "7", "duration": "1.5h"}
// `ts` is in seconds or a date. Without an id a submission is numbered from 1; without a completion it
// runs for its whole walltime. A line of another type is passed over, since captures hold more.

import { parseDuration, parseTime } from "./time-text.ts";
import { DEFAULT_PRIORITY, type ParsedTrace, TraceError, type TraceJob } from "./trace.ts";

export function parseJsonLines(text: string, limit: number): ParsedTrace {
  const submitted = new Map<string, TraceJob>();
  let nodes: number | null = null;
  let number = 0;
  for (const line of text.split("\n")) {
    number += 1;
    if (line.trim() === "") continue;
    const record = parseRecord(line, number);
    const bad = (detail: string): TraceError => new TraceError(number, detail);
    switch (record.type) {
      case "machine":
        nodes = countOf(record.nodes, "nodes", bad);
        break;
      case "submit":
        if (submitted.size < limit) addSubmission(submitted, record, bad);
        break;
      case "complete":
        complete(submitted, record, bad);
        break;
    }
  }
  return { jobs: [...submitted.values()], nodes };
}

type JsonObject = Readonly<Record<string, unknown>>;
type Bad = (detail: string) => TraceError;

function parseRecord(line: string, number: number): JsonObject {
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

function addSubmission(submitted: Map<string, TraceJob>, record: JsonObject, bad: Bad): void {
  const { alloc } = record;
  if (!isObject(alloc)) throw bad('the field "alloc" is missing');
  const submit = parseTime(record.ts);
  if (submit === null || submit < 0) throw bad('the field "ts" must be seconds or a date');
  const walltime = parseDuration(alloc.walltime);
  if (walltime === null || walltime < 0) throw bad('the field "alloc.walltime" must be a duration such as "72h"');
  const id = alloc.id === undefined ? String(submitted.size + 1) : String(alloc.id);
  if (submitted.has(id)) throw bad(`allocation ${JSON.stringify(id)} is submitted twice`);
  const priority = alloc.priority === undefined ? DEFAULT_PRIORITY : alloc.priority;
  if (typeof priority !== "number" || !Number.isInteger(priority) || priority < 0 || priority > 10) {
    throw bad('the field "alloc.priority" must be a whole number from 0 to 10');
  }
  const nodes = countOf(alloc.nodes, "alloc.nodes", bad);
  const user = String(alloc.user ?? alloc.tenant ?? "unknown");
  submitted.set(id, { id, user, submit, run: walltime, request: walltime, nodes, priority });
}

function complete(submitted: Map<string, TraceJob>, record: JsonObject, bad: Bad): void {
  const job = submitted.get(String(record.alloc_id ?? ""));
  if (record.alloc_id === undefined) throw bad('the field "alloc_id" is missing');
  const run = parseDuration(record.duration);
  if (run === null || run < 0) throw bad('the field "duration" must be a duration such as "68h"');
  // A capture may hold the end of what was submitted before it began.
  if (job !== undefined) submitted.set(job.id, { ...job, run: Math.min(run, job.request) });
}

function countOf(value: unknown, field: string, bad: Bad): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw bad(`the field "${field}" must be a whole number`);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
