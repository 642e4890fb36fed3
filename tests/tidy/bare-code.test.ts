// The scanner that the other tidy tests use.
import { expect, test } from "vitest";
import { lineOf, withoutComments, withoutCommentsAndStrings } from "./bare-code.ts";

test.each([
  ["a; // Date\nb;", "a;        \nb;"],
  ["a /* Date */ b", "a            b"],
  ['x = "Date";', "x =       ;"],
  [`x = \`a Date \${now(\`in\`)} Date\`;`, "now(    )"],
  ["x = /[/]Date/.test(y)", ".test(y)"],
  ["x = a / b / c", "x = a / b / c"],
  ['x = "say \\"Date\\""; y', "; y"],
])("comments and strings are blanked in %s", (text, rest) => {
  const bare = withoutCommentsAndStrings(text);
  expect(bare).toContain(rest);
  expect(bare).not.toContain("Date");
  expect(bare).toHaveLength(text.length);
});

test("strings can be kept", () => {
  expect(withoutComments('import x from "one"; // from "two"').trimEnd()).toBe('import x from "one";');
});

test("line numbers start at one", () => {
  expect(lineOf("a\nb\nc", 4)).toBe(3);
});
