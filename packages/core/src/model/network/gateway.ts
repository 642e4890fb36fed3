// The gateway for sensitive data: an address and a port, "10.1.2.3:443" or "[fd00::3]:443". Node programs receive the
// text, so only the characters of an address pass; a host name does not, because isolated nodes have no resolver.

import { isCount } from "../checks.ts";
import { MAX_PORT } from "../spec/limits.ts";

interface Gateway {
  readonly family: 4 | 6;
  readonly host: string;
  readonly port: number;
}

export const GATEWAY_FORM = "must be an IP address and a port, for example 10.1.2.3:443 or [fd00::3]:443";

/** Returns `null` when the text is no gateway. */
export function parseGateway(text: string): Gateway | null {
  const match = /^(?:\[([\da-fA-F:]{2,39})\]|([\d.]{7,15})):(\d{1,5})$/.exec(text);
  if (match === null) return null;
  const [, six, four = "", digits] = match;
  const port = Number(digits);
  if (!isCount(port, 1, MAX_PORT)) return null;
  if (six !== undefined) return isSix(six) ? { family: 6, host: six, port } : null;
  return isFour(four) ? { family: 4, host: four, port } : null;
}

function isFour(host: string): boolean {
  const bytes = host.split(".");
  return bytes.length === 4 && bytes.every((byte) => /^\d{1,3}$/.test(byte) && Number(byte) <= 255);
}

const GROUPS = 8;

function isSix(host: string): boolean {
  const halves = host.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const whole = halves.length === 1 ? groups.length === GROUPS : groups.length < GROUPS;
  return whole && groups.every((group) => /^[\da-fA-F]{1,4}$/.test(group));
}
