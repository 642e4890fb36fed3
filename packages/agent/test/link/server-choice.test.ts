// Which server a node dials after another: never a silent one while others answer.

import { expect, test } from "vitest";
import { serverChoice } from "../../src/link/server-choice.ts";

const drawing =
  (...draws: readonly number[]) =>
  () =>
    draws[n++ % draws.length] ?? 0;
let n = 0;

test("the first server and the next one are random", () => {
  n = 0;
  const choice = serverChoice(["a", "b", "c"], drawing(0.4, 0.9));
  expect(choice.current()).toBe("b");
  choice.ended(false);
  expect(choice.current()).toBe("c");
});

test("a silent server is not dialled again while others answer", () => {
  for (const draw of [0, 0.3, 0.6, 0.99]) {
    const choice = serverChoice(["a", "b", "c"], () => draw);
    const paused = choice.current();
    choice.ended(true);
    for (let tries = 0; tries < 10; tries += 1) {
      expect(choice.current()).not.toBe(paused);
      choice.ended(false);
    }
  }
});

test("when no other server answers, the silent one is tried again", () => {
  const choice = serverChoice(["a", "b"], () => 0);
  choice.ended(true);
  expect(choice.current()).toBe("b");
  choice.ended(true);
  expect(choice.current()).toBe("a");
  const alone = serverChoice(["a"], () => 0);
  alone.ended(true);
  expect(alone.current()).toBe("a");
});

test("a welcome ends the preference", () => {
  const choice = serverChoice(["a", "b", "c"], () => 0);
  choice.ended(true);
  choice.welcomed();
  choice.ended(false);
  expect(choice.current()).toBe("a");
});
