// The kinds of field that the configuration file is made of, each with its own words for what is
// wrong with a value.

import type { Duration } from "@lattice/core";
import { z } from "zod";
import { parseDuration } from "./duration.ts";
import { parseListen } from "./listen.ts";

export const span = (bounds: { readonly least: Duration; readonly most: Duration; readonly preset: string }) =>
  z
    .string({ error: "is not a duration; write it with a unit, for example 10s, 5m or 7d" })
    .default(bounds.preset)
    .transform((text, context) => {
      const value = parseDuration(text);
      if (value !== null && value >= bounds.least && value <= bounds.most) return value;
      const message =
        value === null
          ? "is not a duration; write it with a unit, for example 10s, 5m or 7d"
          : `must be between ${bounds.least} and ${bounds.most} ms`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    });

const toListen = (text: string, context: z.RefinementCtx) => {
  const value = parseListen(text);
  if (value !== null) return value;
  context.addIssue({ code: "custom", message: "is not an address; write host:port, for example 127.0.0.1:8080" });
  return z.NEVER;
};

export const listen = (preset: string) => z.string().default(preset).transform(toListen);

export const listenIfStated = () => z.string().transform(toListen).optional();

export const count = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.number({ error }).refine((n) => Number.isInteger(n) && n >= least && n <= most, { error });
};
/** A section may be left out, or be there with nothing under it. */
export const section = <T extends z.ZodRawShape>(shape: T) =>
  z.preprocess((value) => value ?? {}, z.strictObject(shape));
