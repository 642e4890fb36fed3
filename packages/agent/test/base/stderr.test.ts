// Standard error has one JSON object per line, each key once.

import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { createLogger } from "../../src/base/logger.ts";
import { logStderr, reportUsage } from "../../src/base/stderr.ts";

function lines() {
  const written: string[] = [];
  const out = { write: (line: string) => void written.push(line) };
  const read = () =>
    written.map((line) => {
      const object = JSON.parse(line) as Record<string, unknown>;
      // A key that is there twice is read once.
      expect(JSON.stringify(object)).toBe(line.trim());
      return object;
    });
  return { out, read };
}

test("a field with the name of a key of every line is renamed", () => {
  const { out, read } = lines();
  const log = createLogger({ level: "info", node: "n1", out });
  log.warn({ message: "no process", level: 3, time: "noon", node: "other", attempt: "7.1" }, "attempt not launched");
  expect(read()).toMatchObject([
    {
      level: "warn",
      node: "n1",
      message: "attempt not launched",
      message_: "no process",
      level_: 3,
      time_: "noon",
      node_: "other",
      attempt: "7.1",
    },
  ]);
});

test("warnings are log lines; deprecations are for debugging", () => {
  const { out, read } = lines();
  const source = new EventEmitter();
  const texts: unknown[] = [];
  source.on("warning", (warning) => texts.push(warning));
  logStderr(source, createLogger({ level: "info", node: "n1", out }));
  const named = (name: string) => Object.assign(new Error(`a ${name}`), { name });
  source.emit("warning", named("MaxListenersExceededWarning"));
  source.emit("warning", named("DeprecationWarning"));
  expect(texts).toEqual([]);
  expect(read()).toMatchObject([{ level: "warn", node: "n1", warning: "MaxListenersExceededWarning" }]);
});

test("a fault of the command line is a line of the log, and text on a terminal", () => {
  const { out, read } = lines();
  reportUsage("error: unknown option '--nodeid'\n", out);
  expect(read()).toMatchObject([{ level: "fatal", message: "error: unknown option '--nodeid'" }]);
  const shown: string[] = [];
  reportUsage("error\n", { isTTY: true, write: (text) => shown.push(text) });
  expect(shown).toEqual(["error\n"]);
});
