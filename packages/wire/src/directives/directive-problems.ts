// Collects the errors of all directives of a script, #LATTICE and #SBATCH, so that a user can correct them at once. Each
// names its line, and they are reported in line order.

import { FieldList } from "../errors/field-list.ts";
import type { Option } from "./options.ts";

interface Found {
  readonly line: number;
  readonly field: string;
  readonly detail: string;
  readonly hint: string | undefined;
}

/** Longest part of an option that a message repeats. */
const MAX_SHOWN = 200;

export const shownOption = (option: Option): string => option.text.slice(0, MAX_SHOWN);

export class DirectiveProblems {
  readonly #found: Found[] = [];
  #onlyUnsupported = true;

  /** Reports an invalid value. */
  invalid(option: Option, detail: string, hint?: string): void {
    this.#onlyUnsupported = false;
    this.#add(option, detail, hint);
  }

  /** Reports a valid option that this version does not support. */
  unsupported(option: Option, detail: string): void {
    this.#add(option, detail, undefined);
  }

  /** Reports a malformed line. */
  invalidLine(line: number, detail: string): void {
    this.#onlyUnsupported = false;
    this.#found.push({ line, field: "script", detail: `${detail} (line ${line})`, hint: undefined });
  }

  throwIfAny(): void {
    const list = new FieldList();
    const inOrder = this.#found.toSorted((a, b) => a.line - b.line);
    for (const { field, detail, hint } of inOrder) list.add(field, detail, hint);
    list.throwIfAny(this.#onlyUnsupported ? "unsupported_feature" : "invalid_argument");
  }

  #add(option: Option, detail: string, hint: string | undefined): void {
    const where = option.line === undefined ? "" : ` (line ${option.line})`;
    this.#found.push({ line: option.line ?? 0, field: shownOption(option), detail: `${detail}${where}`, hint });
  }
}
