// Which server a node dials after another, and how long it waits: a silent one is passed over for a while, and a live one is
// dialed again.

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
  choice.ended("refused");
  expect(choice.current()).toBe("c");
});

test("a silent server is dialled again after three tries of each other", () => {
  for (const seed of [1, 2, 3, 4]) {
    const choice = serverChoice(["a", "b", "c"], draws(seed));
    const paused = choice.current();
    choice.ended("silent");
    for (let tries = 0; tries < 6; tries += 1) {
      expect(choice.current()).not.toBe(paused);
      choice.ended("refused");
    }
    const next = Array.from({ length: 40 }, () => {
      const server = choice.current();
      choice.ended("refused");
      return server;
    });
    expect(next).toContain(paused);
  }
});

test("when no other server answers, the silent one is tried again", () => {
  const choice = serverChoice(["a", "b"], () => 0);
  choice.ended("silent");
  expect(choice.current()).toBe("b");
  choice.ended("silent");
  expect(choice.current()).toBe("a");
  const alone = serverChoice(["a"], () => 0);
  alone.ended("silent");
  expect(alone.current()).toBe("a");
});

test("a welcome ends the preference", () => {
  const choice = serverChoice(["a", "b", "c"], () => 0);
  choice.ended("silent");
  choice.welcomed();
  choice.ended("refused");
  expect(choice.current()).toBe("a");
});

test("a server that has ended a working stream is dialed again", () => {
  const choice = serverChoice(["a", "b", "c"], () => 0.9);
  choice.welcomed();
  choice.ended("closed");
  expect(choice.current()).toBe("c");
  choice.ended("refused");
  expect(choice.current()).not.toBe("c");
});

test("the first try of each server is short while there is another one, and the last is long", () => {
  const choice = serverChoice(["a", "b", "c"], () => 0);
  const waits = Array.from({ length: 4 }, () => {
    const wait = choice.patienceMs();
    choice.ended("silent");
    return wait;
  });
  expect(waits).toEqual([2_500, 2_500, 10_000, 10_000]);
  choice.welcomed();
  expect(choice.patienceMs()).toBe(2_500);
  expect(serverChoice(["a"], () => 0).patienceMs()).toBe(10_000);
});
