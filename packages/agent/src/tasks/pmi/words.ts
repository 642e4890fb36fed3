// The two encodings of a PMI message. PMI-1: `cmd=NAME key=value ...` on one line. PMI-2: six bytes of length, then
// `cmd=NAME;key=value;...`, where a `;` inside a value is doubled. Some clients announce six bytes too many and send
// garbage after the last `;`: a trailing part that is not `key=value;` is ignored.

export interface PmiMessage {
  readonly cmd: string;
  readonly fields: ReadonlyMap<string, string>;
}

/** Width of the length in front of every PMI-2 message. */
export const LENGTH_BYTES = 6;

/** The line without its newline. A value ends at the next space, so only the last may contain some. */
export function parseLine(line: string): PmiMessage | null {
  const fields = new Map<string, string>();
  for (const word of line.trim().split(/\s+/)) {
    const at = word.indexOf("=");
    if (at > 0) fields.set(word.slice(0, at), word.slice(at + 1));
  }
  return withCommand(fields);
}

export function formatLine(cmd: string, fields: Readonly<Record<string, string | number>> = {}): string {
  const words = Object.entries(fields).map(([key, value]) => ` ${key}=${value}`);
  return `cmd=${cmd}${words.join("")}\n`;
}

export function parsePairs(text: string): PmiMessage | null {
  const fields = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    const equals = text.indexOf("=", at);
    if (equals < 0) break;
    const key = text.slice(at, equals);
    const value = readValue(text, equals + 1);
    // The rest after the last whole pair is padding.
    if (value === null || !/^[\w-]+$/.test(key)) break;
    fields.set(key, value.text);
    at = value.next;
  }
  return withCommand(fields);
}

/** Returns the text up to the first single `;`; null without one. */
function readValue(text: string, from: number): { readonly text: string; readonly next: number } | null {
  let value = "";
  for (let at = from; ; ) {
    const semicolon = text.indexOf(";", at);
    if (semicolon < 0) return null;
    value += text.slice(at, semicolon);
    if (text[semicolon + 1] !== ";") return { text: value, next: semicolon + 1 };
    value += ";";
    at = semicolon + 2;
  }
}

export function formatPairs(cmd: string, fields: Readonly<Record<string, string | number>> = {}): string {
  const pairs = Object.entries(fields).map(([key, value]) => `${key}=${String(value).replaceAll(";", ";;")};`);
  const body = `cmd=${cmd};${pairs.join("")}`;
  return String(Buffer.byteLength(body, "latin1")).padEnd(LENGTH_BYTES) + body;
}

function withCommand(fields: Map<string, string>): PmiMessage | null {
  const cmd = fields.get("cmd");
  if (cmd === undefined) return null;
  fields.delete("cmd");
  return { cmd, fields };
}
