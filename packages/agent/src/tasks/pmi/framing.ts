// Splits the bytes of one rank's connection into PMI messages. A connection starts with PMI-1 lines; a rank that
// requests version 2 sends length-prefixed messages from then on. Bytes are latin-1: values are opaque, and lengths
// count bytes.

import { LENGTH_BYTES, type PmiMessage, parseLine, parsePairs } from "./words.ts";

type Framed =
  | { readonly kind: "message"; readonly version: 1 | 2; readonly message: PmiMessage }
  | { readonly kind: "malformed"; readonly detail: string };

interface Framing {
  push(bytes: Uint8Array): readonly Framed[];
}

/** Larger than any PMI message; a rank that sends more is not using PMI. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Size of one message with its arguments. */
const MAX_LINES = 4_096;

export function framing(): Framing {
  let waiting = "";
  let version: 1 | 2 = 1;
  let broken = false;
  /** Lines of a message that has several, so far. */
  let several: string[] = [];

  function next(): Framed | null {
    const cut = version === 1 ? cutLine(waiting) : cutPairs(waiting);
    if (cut === null) return waiting.length > MAX_MESSAGE_BYTES ? malformed("a message has no end") : null;
    if (typeof cut === "string") return malformed(cut);
    waiting = waiting.slice(cut.used);
    const text = version === 1 ? whole(cut.text) : cut.text;
    if (text === null) return next();
    const message = version === 1 ? parseLine(text) : parsePairs(text);
    if (message === null) return malformed(`not a PMI message: ${JSON.stringify(cut.text.slice(0, 80))}`);
    const framed: Framed = { kind: "message", version, message };
    if (message.cmd === "init" && message.fields.get("pmi_version") === "2") version = 2;
    return framed;
  }

  /** Joins `mcmd=NAME`, lines of `key=value` and `endcmd` into one line. Returns null until it is complete. */
  function whole(line: string): string | null {
    if (several.length === 0 && !line.startsWith("mcmd=")) return line;
    several.push(several.length === 0 ? line.slice(1) : line);
    if (several.length > MAX_LINES) return "";
    if (line !== "endcmd") return null;
    const words = several.map((one) => one.replaceAll(/\s/g, "_")).join(" ");
    several = [];
    return words;
  }

  function malformed(detail: string): Framed {
    broken = true;
    return { kind: "malformed", detail };
  }

  return {
    push(bytes) {
      waiting += Buffer.from(bytes).toString("latin1");
      const found: Framed[] = [];
      while (!broken) {
        const one = next();
        if (one === null) break;
        found.push(one);
      }
      return found;
    },
  };
}

interface Cut {
  readonly text: string;
  readonly used: number;
}

function cutLine(waiting: string): Cut | null {
  const end = waiting.indexOf("\n");
  return end < 0 ? null : { text: waiting.slice(0, end), used: end + 1 };
}

/** A client that counts six bytes too many sends them as well; they are cut off with the message. */
function cutPairs(waiting: string): Cut | string | null {
  if (waiting.length < LENGTH_BYTES) return null;
  const announced = waiting.slice(0, LENGTH_BYTES).trim();
  if (!/^\d+$/.test(announced)) return `not a length: ${JSON.stringify(announced)}`;
  const length = Number(announced);
  if (length > MAX_MESSAGE_BYTES) return `a message of ${length} bytes`;
  const end = LENGTH_BYTES + length;
  return waiting.length < end ? null : { text: waiting.slice(LENGTH_BYTES, end), used: end };
}
