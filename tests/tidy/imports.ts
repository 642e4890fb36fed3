// Finds the imports of a file, types included: `import`, `export from`, and `import("...")` in code and types.
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

/** Returns the repository path of a relative import. */
export function resolveRelative(source: Source, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(source.path), specifier));
}

/** Returns "@scope/name" or "name", without the path inside the package. */
export function packageNameOf(specifier: string): string {
  const words = specifier.split("/");
  return specifier.startsWith("@") ? words.slice(0, 2).join("/") : (words[0] ?? specifier);
}
