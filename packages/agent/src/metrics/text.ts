// Formats metrics as Prometheus text 0.0.4. Small on purpose: an agent has a few dozen series, and a library would
// cost every node megabytes.

export interface Family {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

export interface MetricSample {
  /** Appended to the family's name: "_bucket", "_sum", "_count". Default: nothing. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Adds `labels` to every sample. Families without samples are omitted. */
export function exposition(families: readonly Family[], labels: Readonly<Record<string, string>>): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, kind, help, samples }) => {
      const lines = samples.map(
        (sample) =>
          `${name}${sample.suffix ?? ""}${labelled({ ...labels, ...sample.labels })} ${spelled(sample.value)}`,
      );
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...lines, ""].join("\n");
    })
    .join("");
}

const labelled = (labels: Readonly<Record<string, string>>): string => {
  const each = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return each.length === 0 ? "" : `{${each.join(",")}}`;
};

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

const spelled = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
};

export interface Histogram {
  observe(value: number): void;
  samples(): readonly MetricSample[];
}

/** `bounds` ascend. */
export function histogram(bounds: readonly number[]): Histogram {
  const counts = bounds.map(() => 0);
  let count = 0;
  let sum = 0;
  return {
    observe(value) {
      count += 1;
      sum += value;
      const place = bounds.findIndex((bound) => value <= bound);
      if (place >= 0) counts[place] = (counts[place] ?? 0) + 1;
    },
    samples() {
      let below = 0;
      const buckets = bounds.map((bound, i): MetricSample => {
        below += counts[i] ?? 0;
        return { suffix: "_bucket", labels: { le: String(bound) }, value: below };
      });
      return [
        ...buckets,
        { suffix: "_bucket", labels: { le: "+Inf" }, value: count },
        { suffix: "_sum", value: sum },
        { suffix: "_count", value: count },
      ];
    },
  };
}
