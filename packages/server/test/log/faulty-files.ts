// A disk that fails on command: each fault names an operation and stays until it is removed.

import { diskFiles, type Files, type OpenFile } from "../../src/log/embedded/files.ts";

export interface Faults {
  /** Free bytes; ENOSPC afterwards. Undefined without a limit. */
  space?: number | undefined;
  /** Most bytes per write. */
  shortWrites?: number | undefined;
  datasync?: string | undefined;
  truncate?: string | undefined;
  open?: string | undefined;
  rename?: string | undefined;
}

/** Names of operations in the order they were done, for tests that count them. */
export interface FaultyFiles extends Files {
  readonly faults: Faults;
  readonly done: string[];
}

export function faultyFiles(): FaultyFiles {
  const faults: Faults = {};
  const done: string[] = [];
  const failing = (code: string | undefined): void => {
    if (code !== undefined) throw Object.assign(new Error(`${code}: injected`), { code });
  };
  const wrap = (file: OpenFile): OpenFile => ({
    ...file,
    write: (from, position) => {
      done.push("write");
      let most = Math.min(from.byteLength, faults.shortWrites ?? from.byteLength);
      if (faults.space !== undefined) {
        if (faults.space === 0) return Promise.reject(Object.assign(new Error("ENOSPC: injected"), { code: "ENOSPC" }));
        most = Math.min(most, faults.space);
        faults.space -= most;
      }
      return file.write(from.subarray(0, most), position);
    },
    datasync: async () => {
      done.push("datasync");
      failing(faults.datasync);
      await file.datasync();
    },
    truncate: async (length) => {
      done.push("truncate");
      failing(faults.truncate);
      await file.truncate(length);
    },
  });
  return {
    ...diskFiles,
    faults,
    done,
    open: async (path, how) => {
      if (how === "create") failing(faults.open);
      return wrap(await diskFiles.open(path, how));
    },
    rename: async (from, to) => {
      failing(faults.rename);
      await diskFiles.rename(from, to);
    },
  };
}
