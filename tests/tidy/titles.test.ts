// Test titles of the pure packages are claims with a subject: "cancel kills grandchildren". A title inside a `describe`
// may continue its noun phrase: "a claim" > "is released once". What counts is the full name, from the outermost title.
import { expect, test } from "vitest";
import { lineOf, withoutComments } from "./bare-code.ts";
import { code } from "./sources.ts";

/** A title as the first argument of `describe`, `it`, `test` or of what their `each` returns. */
const TITLE = /(?:\b(?:describe|it|test)|\))\(\s*"((?:[^"\\]|\\.)*)",\s*(?:async\b|\(|\{)/g;
/** Words that continue a sentence: a full name cannot begin with them. */
const CONTINUES =
  /^(is|are|was|were|be|has|have|had|do|does|did|can|cannot|could|may|might|must|should|will|would|of|and|or|but|not|never|by|with|within|without|to|for|from|in|into|on|at|as|over|after|against|before|during|while|when|where|if|that|which)\b/i;
/** Words that hide the subject: no title begins with them. */
const NAMELESS = /^(who|whom|whose|what|whatever|those|something)\b/i;

const titles = code
  .filter(({ path }) => /^packages\/(core|scheduler)\/test\/.*\.test\.ts$/.test(path))
  .flatMap(({ path, text }) => {
    const bare = withoutComments(text);
    return [...bare.matchAll(TITLE)].map(({ index, 1: title = "" }) => ({
      at: `${path}:${lineOf(bare, index)} "${title}"`,
      title,
      // The formatter indents what is nested.
      isOutermost: !/^\s/.test(bare.slice(bare.lastIndexOf("\n", index) + 1)),
    }));
  });

test("titles are found at both levels", () => {
  expect(titles.filter(({ isOutermost }) => isOutermost).length).toBeGreaterThan(300);
  expect(titles.filter(({ isOutermost }) => !isOutermost).length).toBeGreaterThan(800);
});

test("every full name of a test begins with its subject", () => {
  const wrong = titles.filter(({ title, isOutermost }) => isOutermost && CONTINUES.test(title)).map(({ at }) => at);
  expect(wrong, "begin with the noun of which the test claims something").toEqual([]);
});

test("no test title hides its subject", () => {
  const wrong = titles.filter(({ title }) => NAMELESS.test(title)).map(({ at }) => at);
  expect(wrong, "name the subject: the leader, the user, the allocation").toEqual([]);
});
