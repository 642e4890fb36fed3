// Finds the exported names that no file imports. A name that an index exports again is in use only if another file imports
// it from there.
import { type Binding, bindingsOf, resolveRelative } from "./imports.ts";
import { code, generatedSdk, type Source } from "./sources.ts";

export interface Exported {
  readonly path: string;
  readonly name: string;
}

/** Packages that other programs import; the rest are private. */
const PUBLIC: ReadonlySet<string> = new Set(["packages/sdk/src/index.ts", "packages/sdk/src/browser.ts"]);

interface Module {
  readonly bindings: readonly (Binding & { readonly target: string })[];
}

/** Returns those of the declared names, and the names that a file exports again, which no file uses. */
export function unusedExports(declared: readonly Exported[]): readonly Exported[] {
  const modules = new Map([...code, ...generatedSdk].map((source) => [source.path, moduleOf(source)]));
  const used = new Set<string>();
  const use = (path: string, name: string): void => {
    const key = `${path} ${name}`;
    if (used.has(key)) return;
    used.add(key);
    for (const { target, names, exported } of modules.get(path)?.bindings ?? []) {
      if (exported === null) use(target, name);
      else
        for (const [i, alias] of exported.entries()) if (name === ALL || name === alias) use(target, names?.[i] ?? ALL);
    }
  };
  for (const [path, { bindings }] of modules)
    for (const { target, names, exported } of bindings) {
      if (exported === null ? PUBLIC.has(path) : exported.length === 0 && names === null) use(target, ALL);
      else if (exported?.length === 0) for (const name of names ?? []) use(target, name);
      else if (PUBLIC.has(path)) for (const name of exported ?? []) use(path, name);
    }
  const again = [...modules].flatMap(([path, { bindings }]) =>
    bindings.flatMap(({ exported }) => (exported ?? []).map((name) => ({ path, name }))),
  );
  const isUsed = ({ path, name }: Exported): boolean => used.has(`${path} ${name}`) || used.has(`${path} ${ALL}`);
  return [...declared, ...again.filter(({ path }) => path.startsWith("packages/"))].filter((one) => !isUsed(one));
}

const ALL = "*";

function moduleOf(source: Source): Module {
  const bindings = bindingsOf(source).flatMap((binding) => {
    const target = targetOf(source, binding.specifier);
    return target === null ? [] : [{ ...binding, target }];
  });
  return { bindings };
}

function targetOf(source: Source, specifier: string): string | null {
  if (specifier.startsWith(".")) return resolveRelative(source, specifier);
  const [, name] = /^@lattice\/([^/]+)$/.exec(specifier) ?? [];
  return name === undefined ? null : `packages/${name}/src/index.ts`;
}
