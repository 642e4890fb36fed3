// Standard error has one JSON object per line, each key once.

import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { createLogger } from "../../../src/base/observe/logger.ts";
import { logStderr, reportFatal } from "../../../src/base/observe/stderr.ts";

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
  const log = createLogger({ level: "info", server: "s1", out });
  log.warn({ message: "no process", level: 3, time: "noon", server: "other", attempt: "7.1" }, "attempt not launched");
  expect(read()).toMatchObject([
    {
      level: "warn",
      server: "s1",
      message: "attempt not launched",
      message_: "no process",
      level_: 3,
      time_: "noon",
      server_: "other",
      attempt: "7.1",
    },
  ]);
});

test("warnings, exceptions and messages of libraries are log lines; deprecations are for debugging", async () => {
  const { out, read } = lines();
  const source = new EventEmitter();
  const texts: unknown[] = [];
  source.on("warning", (warning) => texts.push(warning));
  const codes: number[] = [];
  logStderr(source, createLogger({ level: "info", server: "s1", out }), (code) => void codes.push(code));
  const named = (name: string) => Object.assign(new Error(`a ${name}`), { name });
  source.emit("warning", named("MaxListenersExceededWarning"));
  source.emit("warning", named("DeprecationWarning"));
  source.emit("uncaughtException", new RangeError("out of bounds"));
  expect([texts, codes]).toEqual([[], [1]]);
  expect(read()).toMatchObject([
    { level: "warn", warning: "MaxListenersExceededWarning", message: "a MaxListenersExceededWarning" },
    {
      level: "fatal",
      message: "internal error: the server ends",
      err: { type: "RangeError", message: "out of bounds" },
    },
  ]);
});

test("the reason why the program cannot start is a line of the log, and text on a terminal", () => {
  const { out, read } = lines();
  reportFatal("lattice-server", "the configuration:\n  api.rest_lisen: unknown", out);
  expect(read()).toMatchObject([{ level: "fatal", message: "the configuration:\n  api.rest_lisen: unknown" }]);
  const shown: string[] = [];
  reportFatal("lattice-server", "no data", { isTTY: true, write: (text) => shown.push(text) });
  expect(shown).toEqual(["lattice-server: no data\n"]);
});
