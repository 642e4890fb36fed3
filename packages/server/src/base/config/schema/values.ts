// The kinds of value that settings have, each with its own error message.

import { isIP } from "node:net";
import { type Duration, duration } from "@lattice/core";
import { parseS3 } from "@lattice/wire";
import { z } from "zod";

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Parses a duration such as "500ms", "10s", "90m" or "7d"; `null` when the text is none. A bare number is refused, because
 * its unit would be a guess.
 */
function parseDuration(text: string): Duration | null {
  const match = /^([0-9]{1,12})(ms|s|m|h|d)$/.exec(text.trim());
  if (match === null) return null;
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  return Number.isSafeInteger(ms) ? duration(ms) : null;
}

/** A duration between two bounds, both written like the value. */
export function span(least: string, most: string): z.ZodType<Duration> {
  const notOne = "is not a duration; write it with a unit, for example 10s, 5m or 7d";
  const from = parseDuration(least) ?? duration(0);
  const to = parseDuration(most) ?? duration(0);
  return z.string({ error: notOne }).transform((text, context) => {
    const value = parseDuration(text);
    if (value !== null && value >= from && value <= to) return value;
    context.addIssue({ code: "custom", message: value === null ? notOne : `must be between ${from} and ${to} ms` });
    return z.NEVER;
  });
}

export const count = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.number({ error }).refine((n) => Number.isInteger(n) && n >= least && n <= most, { error });
};

export const amount = (least: number, most: number) => z.number().min(least).max(most);

export const choice = <const T extends string>(names: readonly T[], error = `must be one of ${names.join(", ")}`) =>
  z.enum(names as readonly [T, ...T[]], { error });

export const text = () => z.string().min(1);

export const url = (example: string) => z.url({ protocol: /^https?$/, error: `is not a URL, for example ${example}` });

/** A name in the form of a DNS label or several. */
export const label = (error = "must be letters, digits, dots and dashes, at most 63") =>
  z.string().regex(/^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i, error);

/** A path, or s3://bucket/prefix. */
export const place = () =>
  text().refine((value) => !value.startsWith("s3:") || parseS3(value) !== null, {
    error: "is not a place in an object store; write s3://bucket/prefix",
  });

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Parses "127.0.0.1:8080", "[::1]:8080" or "localhost:0"; `null` when the text is no address. The host is required, because
 * ":8080" would silently mean every interface. Port 0 lets the system choose.
 */
export function parseListen(text: string): ListenAddress | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+)):([0-9]{1,5})$/i.exec(text.trim());
  if (match === null) return null;
  const host = match[1] ?? match[2] ?? "";
  const port = Number(match[3]);
  if (port > 65_535) return null;
  if (match[1] !== undefined && isIP(host) !== 6) return null;
  return { host, port };
}

export function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || /^(0{0,4}:){1,7}0{0,3}1$/.test(host);
}

export const formatListen = (address: ListenAddress): string =>
  isIP(address.host) === 6 ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;

export const listen = () =>
  z.string().transform((text, context) => {
    const value = parseListen(text);
    if (value !== null) return value;
    context.addIssue({ code: "custom", message: "is not an address; write host:port, for example 127.0.0.1:8080" });
    return z.NEVER;
  });

/** An address to dial, with a port. */
export const address = () =>
  z.string().refine((text) => parseListen(text) !== null && parseListen(text)?.port !== 0, {
    error: "is not an address; write host:port, for example lattice-02:9000",
  });

export const endpoint = () =>
  z.string().refine((text) => parseListen(text.replace(/^https?:\/\//, "").replace(/\/$/, "")) !== null, {
    error: "is not an endpoint; write host:port or a URL, for example https://etcd-1:2379",
  });
