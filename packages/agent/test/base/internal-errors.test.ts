// Errors that nothing handled: a promise costs its own work alone, an exception ends the agent with a clear message.
import { EventEmitter } from "node:events";
import { pino } from "pino";
import { expect, test } from "vitest";
import { watchInternalErrors } from "../../src/base/internal-errors.ts";

test("an unhandled rejection is logged and counted, and an uncaught exception ends the agent", () => {
  const source = new EventEmitter();
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const codes: number[] = [];
  const count = watchInternalErrors(source, log, (code) => void codes.push(code));
  source.emit("unhandledRejection", new Error("no flag"));
  source.emit("unhandledRejection", "text");
  expect(count()).toBe(2);
  expect(codes).toEqual([]);
  source.emit("uncaughtException", new RangeError("a frame"));
  expect(codes).toEqual([70]);
  expect(lines.join("")).toMatch(
    /no flag.*nothing handled it; the agent continues[\s\S]*RangeError: a frame.*the agent ends/,
  );
});
