// Parsers for the values of flags.

import { InvalidArgumentError } from "commander";

export function peerAddress(text: string): string {
  if (!/^(\[[0-9a-f:]+\]|[^\s:]+):\d{1,5}$/i.test(text)) throw new InvalidArgumentError("must be host:port.");
  return text;
}

/** host:port, :port for every address, or none. */
export function listenAddress(text: string): string {
  return text === "none" || /^:\d{1,5}$/.test(text) ? text : peerAddress(text);
}

export function umask(text: string): string {
  if (!/^0?[0-7]{3}$/.test(text)) throw new InvalidArgumentError("must be three octal digits, such as 022.");
  return text.padStart(4, "0");
}

const UNITS: Readonly<Record<string, number>> = { "": 1, K: 1e3, M: 1e6, G: 1e9, T: 1e12 };

export function bytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([KMGT]?)B?$/i.exec(text);
  const unit = UNITS[match?.[2]?.toUpperCase() ?? ""];
  if (match === null || unit === undefined) throw new InvalidArgumentError("must be a size, such as 500MB or 2TB.");
  return Math.floor(Number(match[1]) * unit);
}

/** For limits where the kernel takes 0 for none. */
export function someBytes(text: string): number {
  const size = bytes(text);
  if (size === 0) throw new InvalidArgumentError("must be more than 0.");
  return size;
}

export const named =
  (what: string, parse: (text: string) => string | null) =>
  (text: string): string => {
    const parsed = parse(text);
    if (parsed === null)
      throw new InvalidArgumentError(`not a valid ${what}: letters, digits, ".", "_" and "-", at most 63.`);
    return parsed;
  };

export const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
    }
    return value;
  };

export function positive(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError("must be a number above 0.");
  return value;
}
