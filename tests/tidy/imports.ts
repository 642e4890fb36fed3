// Finds the imports of a file, types included: `import`, `export from`, and `import("...")` in code and types; and the
// names that they bind.
import { posix } from "node:path";
import { withoutComments, withoutCommentsAndStrings } from "./bare-code.ts";
import type { Source } from "./sources.ts";

const STATEMENT = /(?:(?<![.\w])from\s*|(?<![.\w])import\s*\(?\s*)["']([^"'\n]+)["']/g;

export function importsOf(source: Source): readonly string[] {
  const bare = withoutCommentsAndStrings(source.text);
  return (
    [...withoutComments(source.text).matchAll(STATEMENT)]
      // An import inside a string is not code.
      .filter((match) => bare.charAt(match.index) !== " ")
      .map((match) => match[1] ?? "")
  );
}

/** The names that a file imports from one module. */
export interface Binding {
  readonly specifier: string;
  /** Names in the module; `null` for all of them. */
  readonly names: readonly string[] | null;
  /** The names under which the file exports them again; empty for an import. `null`: `export *`. */
  readonly exported: readonly string[] | null;
}

const NAMED = /(?<![.\w])(import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*["']([^"']+)["']/g;
const STAR = /(?<![.\w])(import|export)\s+(?:type\s+)?\*\s*(?:as\s+([\w$]+)\s+)?from\s*["']([^"']+)["']/g;
const DYNAMIC =
  /(?:(?:const|let)\s+(\{[^}]*\}|[\w$]+)\s*=\s*await\s+|\(\s*await\s+)?(?<![.\w])import\(\s*["']([^"']+)["']\s*\)(?:\)?\.([\w$]+))?/g;

/** Returns the names that a file imports or exports again, by module. */
export function bindingsOf(source: Source): readonly Binding[] {
  const text = withoutComments(source.text);
  const bare = withoutCommentsAndStrings(source.text);
  const inCode = (match: RegExpExecArray): boolean => bare.charAt(match.index) !== " ";
  const named = [...text.matchAll(NAMED)].filter(inCode).map(([, word, list = "", specifier = ""]) => {
    const pairs = pairsOf(list, /\s+as\s+/);
    const exported = word === "export" ? pairs.map(([name = "", alias = name]) => alias) : [];
    return { specifier, names: pairs.map(([name = ""]) => name), exported };
  });
  const starred = [...text.matchAll(STAR)].filter(inCode).map(([, word, alias, specifier = ""]) => {
    if (word === "export") return { specifier, names: null, exported: alias === undefined ? null : [alias] };
    return { specifier, names: membersOf(bare, alias ?? ""), exported: [] };
  });
  const dynamic = [...text.matchAll(DYNAMIC)].map(([, target, specifier = "", member]) => {
    const pairs = target?.startsWith("{") === true ? pairsOf(target.slice(1, -1), /\s*:\s*/) : null;
    const names = pairs?.map(([name = ""]) => name) ?? (target === undefined ? null : membersOf(bare, target));
    return { specifier, names: member === undefined || member === "then" ? names : [member], exported: [] };
  });
  return [...named, ...starred, ...dynamic];
}

const pairsOf = (list: string, separator: RegExp): readonly (readonly string[])[] =>
  list
    .split(",")
    .map((part) => part.trim().replace(/^type\s+/, ""))
    .filter((part) => part !== "")
    .map((part) => part.split(separator));

/** The members of a namespace that a file uses; `null` when it passes the whole namespace on. */
function membersOf(bare: string, namespace: string): readonly string[] | null {
  const uses = [...bare.matchAll(new RegExp(`(?<![.\\w$])${namespace}(?![\\w$])(\\s*\\.\\s*([\\w$]+))?`, "g"))];
  // One use without a member is the declaration itself.
  if (uses.filter(([, member]) => member === undefined).length > 1) return null;
  return uses.flatMap(([, , member]) => member ?? []);
}

/** Returns the repository path of a relative import. */
export function resolveRelative(source: Source, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(source.path), specifier));
}

/** Returns "@scope/name" or "name", without the path inside the package. */
export function packageNameOf(specifier: string): string {
  const words = specifier.split("/");
  return specifier.startsWith("@") ? words.slice(0, 2).join("/") : (words[0] ?? specifier);
}
