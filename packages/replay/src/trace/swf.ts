// Standard Workload Format: one job per line, 18 numbers; comment lines start with a semicolon and may state the
// machine's size. Used fields, counted from 1: 1 id, 2 submit, 4 run time, 5 allocated processors, 8 requested
// processors (else 5), 9 requested time (else run time), 12 user. A negative number means "unknown". The run time is
// cut at the requested time. Read byte by byte: creating a string for every field takes longer than the simulation.

import { createColumns, makeRoom, type Rows } from "./rows.ts";
import { DEFAULT_PRIORITY } from "./trace.ts";
import { TraceError } from "./trace-error.ts";

export function parseSwf(bytes: Uint8Array, limit: number): Rows {
  const columns = createColumns();
  const users = createUsers();
  const header: Header = { procs: null, nodes: null };
  const fields = new Float64Array(FIELD_COUNT);
  let count = 0;
  let line = 0;
  let position = 0;
  while (position < bytes.length) {
    line += 1;
    const first = skipSpaces(bytes, position);
    if (isLineEnd(bytes, first)) {
      position = first + 1;
      continue;
    }
    if (bytes[first] === SEMICOLON) {
      position = lineEnd(bytes, first) + 1;
      readHeader(header, textOf(bytes, first, position));
      continue;
    }
    if (count >= limit) break;
    position = readFields(bytes, first, line, fields) + 1;
    makeRoom(columns, count);
    const run = fields[3] as number;
    const request = firstKnown(fields[8] as number, run);
    columns.id[count] = fields[0] as number;
    columns.submit[count] = fields[1] as number;
    columns.run[count] = Math.min(run, request);
    columns.request[count] = request;
    columns.size[count] = sizeIn(fields);
    columns.user[count] = users.numberOf(fields[11] as number);
    columns.priority[count] = DEFAULT_PRIORITY;
    columns.line[count] = line;
    count += 1;
  }
  const nodes = header.procs ?? header.nodes;
  const { names } = users;
  return {
    count,
    ids: null,
    users: names,
    tenants: names,
    limits: [],
    requests: null,
    // The format has groups, but recorded traces seldom do: each user is a tenant.
    columns: { ...columns, tenant: columns.user },
    nodes,
    machine: [],
    vclusters: [],
  };
}

const FIELD_COUNT = 18;
const USED = [1, 2, 4, 5, 8, 9, 12] as const;
const NEWLINE = 10;
const SEMICOLON = 59;
const MINUS = 45;
const ZERO = 48;

/** Reads the numbers of a line into `fields`, or refuses it; returns the end of the line. */
function readFields(bytes: Uint8Array, first: number, line: number, fields: Float64Array): number {
  let position = first;
  let found = 0;
  while (!isLineEnd(bytes, position) && found < FIELD_COUNT) {
    const start = position;
    let value = 0;
    let simple = true;
    if (bytes[position] === MINUS) position += 1;
    for (let byte = bytes[position] as number; byte > SPACE; byte = bytes[position] as number) {
      const digit = byte - ZERO;
      if (digit < 0 || digit > 9) simple = false;
      value = value * 10 + digit;
      position += 1;
    }
    found += 1;
    if (bytes[start] === MINUS) value = -value;
    fields[found - 1] =
      simple && position - start <= MAX_PLAIN_LENGTH ? value : slowNumber(textOf(bytes, start, position));
    position = skipSpaces(bytes, position);
  }
  checkFields(bytes, { first, line, found }, fields);
  return lineEnd(bytes, position);
}

/** Bytes up to a space separate words, including tabs and carriage returns. */
const SPACE = 32;

/** Up to this length digits can be summed without loss. */
const MAX_PLAIN_LENGTH = 15;

const slowNumber = (text: string): number => (text === "-" ? Number.NaN : Number(text));

function checkFields(
  bytes: Uint8Array,
  { first, line, found }: { readonly first: number; readonly line: number; readonly found: number },
  fields: Float64Array,
): void {
  if (found < FIELD_COUNT) {
    throw new TraceError(line, `a job has ${FIELD_COUNT} fields, this line has ${found}`);
  }
  for (let i = 0; i < USED.length; i += 1) {
    const number = USED[i] as number;
    if (Number.isFinite(fields[number - 1] as number)) continue;
    const word = textOf(bytes, first, lineEnd(bytes, first)).split(/\s+/)[number - 1] ?? "";
    throw new TraceError(line, `field ${number} is not a number: ${quoted(word)}`);
  }
  const submit = fields[1] as number;
  if (submit < 0) throw new TraceError(line, `field 2 (submit time) is negative: ${submit}`);
  const size = sizeIn(fields);
  if (size > 0 && !Number.isInteger(size)) throw new TraceError(line, `the number of processors is not whole: ${size}`);
}

const sizeIn = (fields: Float64Array): number => firstKnown(fields[7] as number, fields[4] as number);

const firstKnown = (wanted: number, otherwise: number): number => (wanted > 0 ? wanted : otherwise);

const isLineEnd = (bytes: Uint8Array, position: number): boolean =>
  position >= bytes.length || bytes[position] === NEWLINE;

function skipSpaces(bytes: Uint8Array, from: number): number {
  let position = from;
  while (position < bytes.length && (bytes[position] as number) <= SPACE && bytes[position] !== NEWLINE) position += 1;
  return position;
}

function lineEnd(bytes: Uint8Array, from: number): number {
  let position = from;
  while (!isLineEnd(bytes, position)) position += 1;
  return position;
}

const textOf = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.subarray(from, to)).toString("utf8").trim();

const quoted = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);

function createUsers() {
  const names: string[] = [];
  const numbers = new Map<number, number>();
  return {
    names,
    numberOf(user: number): number {
      const key = user < 0 ? -1 : user;
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, names.length);
      return names.push(key < 0 ? "unknown" : String(key)) - 1;
    },
  };
}

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
