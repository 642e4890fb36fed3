// Checks the documentation: links have targets, and every command block in the guides is either run by a test (`sh run`)
// or marked as an example (`sh example`).
import { posix } from "node:path";
import { expect, test } from "vitest";
import { allFiles, markdown } from "./sources.ts";

const LINK = /(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)/g;
/** A path in backticks. Capital words stand for a name to choose, and end the path: `packages/cli/src/commands/NAME.ts`. */
const REPOSITORY_PATH =
  /`((?:packages|tests|docs|proto|tools|config|infra|sdks|benches)\/(?:[a-z0-9._-]+\/?)*)[^`\s]*`/g;
/** Built, not committed. */
const DERIVED = /\/dist\//;
const KNOWN_BLOCKS = new Set([
  "sh run",
  "sh run background",
  "sh example",
  // Run with TLS and tokens by tests/acceptance/join-secured.test.ts.
  "sh secured",
  "sh secured background",
  "text",
  "yaml",
  "json",
  "ts",
  "mermaid",
  "proto",
  "ini",
  "ts run",
  "python run",
  "python example",
]);

test("documentation files are found", () => {
  expect(markdown.length).toBeGreaterThan(8);
});

test("every relative link has a file, and its anchor a heading", () => {
  const known = new Set(allFiles);
  const folders = new Set(allFiles.flatMap(parents));
  const wrong = markdown.flatMap(({ path, text }) =>
    [...withoutBlocks(text).matchAll(LINK)]
      .map((match) => match[1] ?? "")
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [file = "", anchor] = target.split("#");
        const resolved = file === "" ? path : posix.normalize(posix.join(posix.dirname(path), file)).replace(/\/$/, "");
        if (anchor !== undefined && known.has(resolved)) return !anchorsOf(resolved).has(anchor);
        return !known.has(resolved) && !folders.has(resolved);
      })
      .map((target) => `${path} links to ${target}`),
  );
  expect(wrong, "correct the path, from the page's own folder").toEqual([]);
});

test("every path of the repository in a page exists", () => {
  const known = new Set(allFiles);
  const folders = new Set(allFiles.flatMap(parents));
  const wrong = markdown.flatMap(({ path, text }) =>
    [...text.matchAll(REPOSITORY_PATH)]
      .map((match) => (match[1] ?? "").replace(/\/$/, ""))
      .filter((target) => !DERIVED.test(target) && !known.has(target) && !folders.has(target))
      .map((target) => `${path} names ${target}`),
  );
  expect(wrong, "a file was moved: correct the page").toEqual([]);
});

test("every command block of the guides is marked as run or example", () => {
  const wrong = markdown
    .filter(({ path }) => path.startsWith("docs/users/") || path.startsWith("docs/operating/"))
    .flatMap(({ path, text }) =>
      openings(text)
        .filter((info) => !KNOWN_BLOCKS.has(info))
        .map((info) => `${path}: a block opens with \`\`\`${info}`),
    );
  expect(wrong, `open it with one of: ${[...KNOWN_BLOCKS].join(", ")}`).toEqual([]);
});

function openings(text: string): readonly string[] {
  const fences = [...text.matchAll(/^```(.*)$/gm)].map((match) => (match[1] ?? "").trim());
  return fences.filter((_, position) => position % 2 === 0);
}

function withoutBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");
}

function anchorsOf(path: string): ReadonlySet<string> {
  const text = markdown.find((source) => source.path === path)?.text ?? "";
  const headings = [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map((match) => match[1] ?? "");
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .trim()
        .replace(/ /g, "-"),
    ),
  );
}

function parents(path: string): readonly string[] {
  const words = path.split("/");
  return words.slice(1).map((_, depth) => words.slice(0, depth + 1).join("/"));
}
