// Parses structured values of flags and `#LATTICE` lines: mounts, exposed ports, probes.

import type { JsonObject } from "../json/value.ts";

/** Returns a number if the text is one; other text passes unchanged, and the server reports the error. */
export const numeric = (text: string): number | string => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);

/** GiB per unit; Slurm's units are binary too. */
const MEMORY_UNITS: Readonly<Record<string, number>> = { k: 2 ** -20, m: 2 ** -10, g: 1, t: 2 ** 10 };

/** Parses `64G`, `512M` or `1.5T` to GiB. Returns a text for an error; a number alone is MB in Slurm and GB elsewhere. */
export function memoryGbFrom(text: string): number | string {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,6})?)\s*([kmgt])?(?:i?b)?$/i.exec(text.trim()) ?? [];
  if (amount === undefined) return `"${text}" is not an amount of memory, such as 64G or 512M`;
  const factor = MEMORY_UNITS[unit?.toLowerCase() ?? ""];
  return factor === undefined ? `"${text}" has no unit: write ${amount}G or ${amount}M` : Number(amount) * factor;
}

/** Parses `2` or `H100:2` to constraints. Returns a text for an error. */
export function gpusFrom(text: string): JsonObject | string {
  const [, type, count] = /^(?:([^:\s]+):)?(\d{1,6})$/.exec(text.trim()) ?? [];
  if (count === undefined) return `"${text}" is not a number of GPUs, such as 2 or H100:2`;
  return { gpu_count: Number(count), ...(type === undefined ? {} : { gpu_type: type }) };
}

/**
 * Parses `SOURCE:TARGET[:ro|rw]`. Sources may contain colons, so the target follows the last colon before the access
 * mode.
 */
function mountOf(text: string): { readonly source: string; readonly target: string; readonly access?: string } {
  const [, rest = text, access] = /^(.*):(ro|rw)$/.exec(text) ?? [];
  const at = rest.lastIndexOf(":");
  const parts = at <= 0 ? { source: rest, target: "" } : { source: rest.slice(0, at), target: rest.slice(at + 1) };
  return access === undefined ? parts : { ...parts, access };
}

/** Credentials apply to s3:// sources only. */
export const mountWithKeys = (text: string, credentials: string | undefined): JsonObject => {
  const mount = mountOf(text);
  return credentials === undefined || !mount.source.startsWith("s3://") ? { ...mount } : { ...mount, credentials };
};

/** `8080`, `metrics:9090`, `8080/http` or `api:8080/grpc`. */
export function exposedOf(text: string): JsonObject {
  const [place = "", protocol] = text.split("/", 2);
  const at = place.indexOf(":");
  const port = at < 0 ? { port: numeric(place) } : { name: place.slice(0, at), port: numeric(place.slice(at + 1)) };
  return protocol === undefined ? port : { ...port, protocol };
}

const SETTINGS: ReadonlyMap<string, string> = new Map([
  ["period", "period_secs"],
  ["delay", "initial_delay_secs"],
  ["failures", "failure_threshold"],
  ["timeout", "timeout_secs"],
]);

/**
 * Parses `tcp:8080` or `http:8080/healthz`, followed by options such as `,period=5,failures=2`. Returns a text for an
 * error.
 */
export function probeFrom(text: string): JsonObject | string {
  const [what = "", ...settings] = text.split(",");
  const [, kind, port, path = ""] = /^(tcp|http):(\d{1,5})(\/.*)?$/.exec(what) ?? [];
  if (kind === undefined || (kind === "tcp" && path !== "")) {
    return "Write it as tcp:8080 or http:8080/path, with period=, delay=, failures= and timeout= behind commas.";
  }
  const read = settings.map((one) => [one, /^([a-z]+)=(\d{1,6})$/.exec(one)] as const);
  const wrong = read.find(([, match]) => !SETTINGS.has(match?.[1] ?? ""));
  if (wrong !== undefined) {
    return `"${wrong[0]}" is none of its settings (${[...SETTINGS.keys()].join(", ")}), which take a number.`;
  }
  return {
    probe_type: kind,
    port: Number(port),
    ...(kind === "http" ? { path: path === "" ? "/" : path } : {}),
    ...Object.fromEntries(read.map(([, match]) => [SETTINGS.get(match?.[1] ?? "") ?? "", Number(match?.[2])])),
  };
}

interface CheckpointWords {
  readonly strategy?: string | undefined;
  readonly port?: string | undefined;
  readonly timeout?: string | undefined;
}

/** Parses the strategy alone, or with its method. */
export function checkpointOf({ strategy, port, timeout }: CheckpointWords): string | JsonObject | undefined {
  if (port === undefined && timeout === undefined) return strategy;
  return {
    strategy: strategy ?? "auto",
    ...(port === undefined ? {} : { port: numeric(port) }),
    ...(timeout === undefined ? {} : { timeout_seconds: numeric(timeout) }),
  };
}
