// The accounting section: whether usage is handed on to an accounting system outside. None is connected to in this version, so that
// the one value is false: a server that was told to hand figures on and does not would be believed by whoever bills.

import { z } from "zod";
import { section } from "./fields.ts";

export const accountingSection = section({ enabled: z.boolean().default(false) });

export const NO_ACCOUNTING =
  "cannot be true: this version hands usage on to no accounting system; what was used is at GET /api/v1/accounting and lattice history";

export const accountingProblems = ({
  enabled,
}: z.output<typeof accountingSection>): readonly { readonly path: string[]; readonly message: string }[] =>
  enabled ? [{ path: ["enabled"], message: NO_ACCOUNTING }] : [];
