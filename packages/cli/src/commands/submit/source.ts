// Reads the work to submit: a command after `--`, a script with arguments, or a document. The caller merges it with
// flags and defaults.

import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { MAX_SCRIPT_BYTES, ProblemError, parseScript, type SlurmMapping } from "@lattice/wire";
import type { ShortForm } from "./flags.ts";

export interface SubmissionSource {
  readonly form: ShortForm;
  readonly defaultName: string;
  readonly warnings: readonly string[];
}

export function fromWords(words: readonly string[]): SubmissionSource {
  refuseNul(words.join(" "), "the command");
  return { form: { command: words }, defaultName: basename(words[0] ?? ""), warnings: [] };
}

/** Arguments become the script's positional parameters; `mapping` is the site's, for #SBATCH lines. */
export function fromScript(path: string, args: readonly string[], mapping: SlurmMapping = {}): SubmissionSource {
  const text = readText(path, () => scriptHint(path, args));
  refuseNul(args.join(" "), "an argument of the script");
  const { submission, warnings } = parseScript(text, mapping);
  const script = args.length === 0 ? text : withArguments(text, args);
  return { form: { ...submission, script }, defaultName: basename(path), warnings };
}

/** Reads a YAML or JSON document, in short or full form, unchanged. */
export async function fromDocument(path: string, hint = "Check the path after --file."): Promise<ShortForm> {
  const text = path === "-" ? readFileSync(0, "utf8") : readText(path, () => hint, "file");
  refuseNul(text, path);
  const { parseYaml: parse } = await import("../../parse/yaml.ts");
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ProblemError("malformed_body", { detail: `${path} is neither YAML nor JSON: ${why}` });
  }
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new ProblemError("malformed_body", { detail: `${path} does not hold an object` });
  }
  return document as ShortForm;
}

/**
 * The API has no field for script arguments, so a `set --` line below the interpreter line sets them. Only shells
 * understand it.
 */
function withArguments(text: string, args: readonly string[]): string {
  const [first = "", ...rest] = text.split("\n");
  const hasInterpreter = first.startsWith("#!");
  if (hasInterpreter && !/\b(ba|da|k|z|a)?sh\b/.test(first)) {
    throw new ProblemError("invalid_argument", {
      detail: `only shell scripts take arguments; the interpreter of this one is "${first.slice(2).trim()}"`,
      hint: "Run it as a command instead: lattice submit [flags] -- ./script ARGS",
    });
  }
  const set = `set -- ${args.map(quote).join(" ")}`;
  return hasInterpreter ? [first, set, ...rest].join("\n") : [set, first, ...rest].join("\n");
}

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Suggests `--` for a plain word, and a check of the path for anything that looks like one. */
function scriptHint(path: string, args: readonly string[]): string {
  if (path.includes("/") || /\.\w+$/.test(path)) {
    return "Check the path of the script; a command goes after --: lattice submit -- COMMAND";
  }
  const words = [path, ...args].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quote(word)));
  return `To run a command rather than a script, put it after --: lattice submit -- ${words.join(" ")}`;
}

function readText(path: string, hint: () => string, what: "script" | "file" = "script"): string {
  try {
    if (statSync(path).size > MAX_SCRIPT_BYTES) {
      throw new ProblemError("invalid_argument", {
        detail: `${path} is larger than ${MAX_SCRIPT_BYTES / 1024 / 1024} MB`,
        hint: "Put large input into a separate file and read it in the script.",
      });
    }
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    const why = { ENOENT: "does not exist", EISDIR: "is a directory", EACCES: "may not be read" }[code ?? ""];
    throw new ProblemError("invalid_argument", {
      detail: `the ${what} ${path} ${why ?? `cannot be read (${code})`}`,
      hint: hint(),
    });
  }
}

function refuseNul(text: string, what: string): void {
  const at = text.indexOf("\0");
  if (at < 0) return;
  const line = text.slice(0, at).split("\n").length;
  throw new ProblemError("invalid_argument", {
    detail: `${what} contains a NUL byte (line ${line}), so it is not text`,
    hint: "Submit a script that starts the program.",
  });
}
