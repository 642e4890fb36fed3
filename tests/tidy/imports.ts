// Which files a file imports, types included: `import`, `export from`, `import("...")` in code and
// in types.
import { posix } from "node:path";
import { withoutComments, withoutCommentsAndStrings } from "./bare-code.ts";
import type { Source } from "./sources.ts";

const STATEMENT = /(?:(?<![.\w])from\s*|(?<![.\w])import\s*\(?\s*)["']([^"'\n]+)["']/g;

export function importsOf(source: Source): readonly string[] {
  const bare = withoutCommentsAndStrings(source.text);
  return (
    [...withoutComments(source.text).matchAll(STATEMENT)]
      // An import inside a string is text about code, not code.
      .filter((match) => bare.charAt(match.index) !== " ")
      .map((match) => match[1] ?? "")
  );
}

/** The path in the repository that a relative import names. */
export function resolveRelative(source: Source, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(source.path), specifier));
}

/** "@scope/name" or "name", without the path inside the package. */
export function packageNameOf(specifier: string): string {
  const words = specifier.split("/");
  return specifier.startsWith("@") ? words.slice(0, 2).join("/") : (words[0] ?? specifier);
}
