// Standard Workload Format: one job per line, 18 numbers; comment lines begin with a semicolon and
// may state the machine's size. Used fields, counted from 1: 1 id, 2 submit, 4 run time, 5 allocated
// processors, 8 requested processors (else 5), 9 requested time (else run time), 12 user. A number
// below zero means "not known". The run time is cut at the requested time.

import { DEFAULT_PRIORITY, type ParsedTrace, TraceError, type TraceJob } from "./trace.ts";

export function parseSwf(text: string, limit: number): ParsedTrace {
  const jobs: TraceJob[] = [];
  const header: Header = { procs: null, nodes: null };
  let number = 0;
  for (const line of text.split("\n")) {
    number += 1;
    const trimmed = line.trim();
    if (trimmed === "") continue;
    if (trimmed.startsWith(";")) readHeader(header, trimmed);
    else if (jobs.length >= limit) break;
    else jobs.push(parseJob(trimmed, number));
  }
  return { jobs, nodes: header.procs ?? header.nodes };
}

const FIELD_COUNT = 18;

function parseJob(line: string, number: number): TraceJob {
  const fields = line.split(/\s+/);
  if (fields.length < FIELD_COUNT) {
    const detail = `a job has ${FIELD_COUNT} fields, this line has ${fields.length}`;
    throw new TraceError(number, detail);
  }
  const value = (field: number): number => {
    const text = fields[field - 1] ?? "";
    const read = Number(text);
    if (!Number.isFinite(read)) throw new TraceError(number, `field ${field} is not a number: ${quoted(text)}`);
    return read;
  };
  const submit = value(2);
  if (submit < 0) throw new TraceError(number, `field 2 (submit time) is negative: ${submit}`);
  const run = value(4);
  const nodes = firstKnown(value(8), value(5));
  if (nodes > 0 && !Number.isInteger(nodes))
    throw new TraceError(number, `the number of processors is not whole: ${nodes}`);
  const request = firstKnown(value(9), run);
  const user = value(12);
  return {
    id: String(value(1)),
    user: user < 0 ? "unknown" : String(user),
    submit,
    run: Math.min(run, request),
    request,
    nodes,
    priority: DEFAULT_PRIORITY,
  };
}

const firstKnown = (wanted: number, otherwise: number): number => (wanted > 0 ? wanted : otherwise);

const quoted = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);

interface Header {
  procs: number | null;
  nodes: number | null;
}

function readHeader(header: Header, line: string): void {
  const found = /^;\s*(MaxProcs|MaxNodes):\s*(\d+)\s*$/.exec(line);
  if (found === null) return;
  const size = Number(found[2]);
  if (size <= 0) return;
  if (found[1] === "MaxProcs") header.procs = size;
  else header.nodes = size;
}
