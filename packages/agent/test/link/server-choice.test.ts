// Which server a node dials after another: a silent one is passed over for a while.

import { expect, test } from "vitest";
import { serverChoice } from "../../src/link/server-choice.ts";

/** The generator of Park and Miller. */
function draws(seed: number): () => number {
  const modulus = 2 ** 31 - 1;
  let state = seed * 7_919;
  return () => {
    state = (state * 16_807) % modulus;
    return state / modulus;
  };
}

test("the first server and the next one are random", () => {
  const drawn = [0.4, 0.9];
  const choice = serverChoice(["a", "b", "c"], () => drawn.shift() ?? 0);
  expect(choice.current()).toBe("b");
  choice.ended(false);
  expect(choice.current()).toBe("c");
});

test("a silent server is dialled again after three tries of each other", () => {
  for (const seed of [1, 2, 3, 4]) {
    const choice = serverChoice(["a", "b", "c"], draws(seed));
    const paused = choice.current();
    choice.ended(true);
    for (let tries = 0; tries < 6; tries += 1) {
      expect(choice.current()).not.toBe(paused);
      choice.ended(false);
    }
    const next = Array.from({ length: 40 }, () => {
      const server = choice.current();
      choice.ended(false);
      return server;
    });
    expect(next).toContain(paused);
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
