// Input of a rank that is sent again, after an answer was lost, is taken once.
import { expect, test } from "vitest";
import { inputPlace } from "../../src/tasks/shepherd/input.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("delivered input is skipped, new input passes, and input without an offset passes", () => {
  const place = inputPlace();
  const takes = (text: string, offset?: number): string => {
    if (offset !== undefined) place.at(offset);
    return new TextDecoder().decode(place.fresh(bytes(text)));
  };
  expect(takes("abc", 0)).toBe("abc");
  expect(takes("abc", 0)).toBe("");
  expect(takes("cde", 2)).toBe("de");
  // A leader was lost with what it had taken.
  expect(takes("xy", 9)).toBe("xy");
  const silent = inputPlace();
  for (const text of ["a", "a"]) expect(new TextDecoder().decode(silent.fresh(bytes(text)))).toBe(text);
});
